package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
)

// hubHome makes the test binary a hub on this home instead of running tests.
const hubHome = "PARLEY_TEST_HUB_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(hubHome); home != "" {
		if err := hub(home); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// hub posts messages and prints the id of each once it is acknowledged, until its input ends. A line
// "backup DIR" makes a backup instead.
func hub(home string) error {
	db, err := Open(context.Background(), home)
	if err != nil {
		return err
	}
	c, err := prepare(db)
	if err != nil {
		return err
	}
	fmt.Println("open")
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		if dir, ok := strings.CutPrefix(commands.Text(), "backup "); ok {
			_, err := db.Backup(context.Background(), dir)
			fmt.Println("backup:", err)
			continue
		}
		id, err := post(db, c, commands.Text())
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return db.Close()
}

// process is a hub in another process.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startHub(t *testing.T, home string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), hubHome+"="+home)
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func (p *process) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the other process: %v", err)
	}
	return strings.TrimSpace(line)
}

func (p *process) say(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends the process without warning; a second time does nothing.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// stop lets the process end by itself.
func (p *process) stop() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// prepare adds an agent and a channel where they are not there yet.
func prepare(db storage.Store) (c parley.Conversation, err error) {
	err = db.Update(context.Background(), func(tx storage.Tx) (err error) {
		if c, err = tx.Conversations().Find("general"); !errors.Is(err, parley.ErrNotFound) {
			return err
		}
		err = tx.Agents().Insert(parley.Agent{ID: "arya", UUID: uuid.NewString(), Name: "Arya", Kind: parley.KindAgent})
		if err != nil {
			return err
		}
		c = parley.Conversation{
			ID: uuid.NewString(), Name: "general", Kind: parley.Channel, Visibility: parley.Public, CreatedBy: "arya",
		}
		return tx.Conversations().Insert(c)
	})
	return c, err
}

func post(db storage.Store, c parley.Conversation, text string) (id string, err error) {
	id = uuid.NewString()
	m := parley.Message{
		ID: id, TraceID: id, Conversation: c.ID, From: "arya", Type: parley.TypeChat, Priority: parley.DefaultPriority,
		Source: "api", Content: parley.Content{Text: text},
	}
	return id, db.Update(context.Background(), func(tx storage.Tx) (err error) {
		if m.Seq, err = tx.Messages().NextSeq(); err != nil {
			return err
		}
		m.Checksum = m.Seal(m.BodyDigest())
		return tx.Messages().Insert(m)
	})
}
