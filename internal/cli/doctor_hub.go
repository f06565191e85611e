package cli

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/server"
)

// examineHub checks a running hub.
func (d *doctor) examineHub(ctx context.Context) error {
	hub, err := d.app.newClientIn(d.dir)
	if err != nil {
		return err
	}
	defer hub.Close()
	status, err := hub.Status(ctx)
	if err != nil {
		d.noteError("hub", err)
		return nil
	}
	d.addFinding("hub", verdictOK, "the hub runs as process %d since %s", status.PID, d.app.formatTime(status.StartedAt))
	for _, reason := range status.NotReady {
		d.addFinding("ready", verdictFail, "the hub cannot store anything at present: %s", reason.Message).Fix = reason.Suggestion
	}
	d.checkVersion(status.Version)
	d.checkSocket(status.Socket)
	d.checkAddress(ctx, status.Address)
	d.checkClock(newestTime(ctx, hub))
	d.checkDisk(status.DiskFree, status.DiskTotal)
	for _, alert := range parley.GroupAlerts(status.Alerts) {
		if alert.Name != "disk" { // checkDisk has reported it
			d.addFinding("alert", verdictWarn, "%s", alert.Message).Fix = d.app.alertRemedy(alert)
		}
	}
	for _, agent := range status.UnknownClients {
		d.addFinding("clients", verdictWarn, "an unknown program opened the session of %s: the hub may treat other commands of that program as yours", agent).
			Fix = "if it is an agent's client, start it from a shell that stays open, or add its name to clients in config.yaml if that is not enough"
	}
	d.checkSessions(ctx, hub, d.connected)
	if bridges, err := hub.Bridges(ctx); err != nil {
		d.noteError("bridges", err)
	} else {
		d.checkBridges(bridges)
	}
	if len(status.NotReady) == 0 || d.deep {
		d.checkDatabase(ctx, status.Store, hub)
	}
	return nil
}

// checkBridges checks the tree and the state of each bridge.
func (d *doctor) checkBridges(bridges []parley.BridgeView) {
	sound := int64(0)
	for _, v := range bridges {
		problem, remedy := d.app.bridgeProblem(v)
		switch info, err := os.Stat(v.Root); {
		case !v.Outside && (err != nil || !info.IsDir()):
			d.addFinding("bridges", verdictFail, "%s: there is no directory %s that this user can see", v.ID, v.Root).Fix = "restore the directory, or remove the bridge: " +
				d.app.commandLine("bridge", "remove", v.ID)
		case problem != "":
			d.addFinding("bridges", verdictWarn, "%s", problem).Fix = remedy
		default:
			sound++
		}
	}
	if sound > 0 {
		d.addFinding("bridges", verdictOK, "%s", formatQuantity(sound, "bridge works", "bridges work"))
	}
}

func (d *doctor) checkVersion(hub string) {
	if hub == parley.Version {
		d.addFinding("versions", verdictOK, "program and hub are parley %s (%s)", hub, platform())
		return
	}
	d.addFinding("versions", verdictWarn, "this program is parley %s, the hub is %s", parley.Version, hub).Fix = d.restartHint()
}

func (d *doctor) restartHint() string {
	return "restart the hub: " + d.app.commandLine("down") + " && " + d.app.commandLine("up", "--detach")
}

func (d *doctor) checkSocket(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		d.addFinding("socket", verdictFail, "%v", err).Fix = d.restartHint()
	case info.Mode().Perm()&0o077 != 0:
		d.addFinding("socket", verdictFail, "other users can access %s", path).Fix = "chmod 600 " + path
	default:
		d.addFinding("socket", verdictOK, "%s answers", path)
	}
}

// checkAddress checks that the hub, and no other program, answers at its address.
func (d *doctor) checkAddress(ctx context.Context, address string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	var response *http.Response
	if err == nil {
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		d.addFinding("address", verdictFail, "%s does not answer: %v", address, err).Fix = "check the firewall, or choose another address with --addr"
		return
	}
	_ = response.Body.Close()
	if response.Header.Get("Parley-Version") == "" {
		d.addFinding("address", verdictFail, "another program answers at %s", address).Fix = "choose another address with --addr"
		return
	}
	d.addFinding("address", verdictOK, "http://%s answers", address)
}

// newestTime returns the time of the newest conversation that the caller may see, or nil if it is unknown.
func newestTime(ctx context.Context, hub *client.Client) *time.Time {
	page, err := hub.Conversations(ctx, client.ConversationsOptions{All: true}, client.PageRequest{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return nil
	}
	return &page.Items[0].UpdatedAt
}

// checkDatabase lets the hub verify everything with --deep. Without it there is nothing to do, because the hub has
// checked the structure itself.
func (d *doctor) checkDatabase(ctx context.Context, kind string, hub *client.Client) {
	if !d.deep {
		d.addFinding("database", verdictOK, "%s, in use by the hub; --deep verifies everything in it", kind)
		return
	}
	tell, stop := d.app.showSteps(ctx, "verifying")
	report, err := hub.CheckDeep(ctx, func(r parley.CheckReport) { tell(checkProgressText(r)) })
	stop()
	d.noteReport(kind, report, err)
	if audit, err := hub.VerifyAudit(ctx); err != nil {
		d.noteError("audit", err)
	} else {
		d.noteAudit(audit)
	}
}

func (d *doctor) noteAudit(audit parley.AuditReport) {
	if audit.OK {
		d.addFinding("audit", verdictOK, "%s", formatQuantity(audit.Entries, "entry is unchanged", "entries are unchanged"))
	}
	for _, problem := range audit.Problems {
		d.addFinding("audit", verdictFail, "%s", problem).Fix = "keep a copy of the home, and compare it with a backup"
	}
}

func checkProgressText(r parley.CheckReport) string {
	return formatQuantity(r.Messages, "message", "messages") + ", " + formatQuantity(r.Artifacts, "artifact", "artifacts")
}

// noteStoppedHub says that the hub is not running. Connected clients need it.
func (d *doctor) noteStoppedHub() {
	if len(d.connected) == 0 {
		d.addFinding("hub", verdictOK, "the hub is not running")
		return
	}
	var names []string
	for _, c := range d.connected {
		names = append(names, connectionTitle(c))
	}
	d.addFinding("hub", verdictWarn, "the hub is not running, and connected clients need it: %s", strings.Join(names, ", ")).Fix = d.app.commandLine("up", "--detach")
}

// examineStore opens the store of a hub that is not running.
func (d *doctor) examineStore(ctx context.Context) error {
	d.noteStoppedHub()
	d.addFinding("versions", verdictOK, "this program is parley %s (%s)", parley.Version, platform())
	tell, stop := d.app.showSteps(ctx, "verifying")
	found, err := server.Examine(ctx, d.app.offlineOptions(d.dir, d.config), d.deep, func(r parley.CheckReport) { tell(checkProgressText(r)) })
	stop()
	d.checkClock(found.Newest)
	d.checkDisk(found.DiskFree, found.DiskTotal)
	if e := parley.AsError(err); e != nil && e.Reason == parley.NotFound {
		d.addFinding("database", verdictWarn, "%s", e.Message).Fix = e.Suggestion
		return ctx.Err()
	}
	var report parley.CheckReport
	if found.Report != nil {
		report = *found.Report
	}
	if err != nil || d.deep {
		d.noteReport("the database", report, err)
		if found.Audit != nil && err == nil {
			d.noteAudit(*found.Audit)
		}
	} else {
		d.addFinding("database", verdictOK, "the database can be opened; --deep verifies everything in it")
	}
	return ctx.Err()
}

func (d *doctor) noteReport(kind string, report parley.CheckReport, err error) {
	if err != nil {
		d.noteError("database", err)
		return
	}
	for _, problem := range report.Problems {
		d.addFinding("database", verdictFail, "%s", problem).Fix = "restore the newest backup, or store the named items again"
	}
	if len(report.Problems) == 0 {
		d.addFinding("database", verdictOK, "%s has no damage: %s", kind, checkProgressText(report))
	}
}
