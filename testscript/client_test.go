package script

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// connectedClient is the program of a client that has connected as an agent. Each line of its input is a command: "mcp" and the
// arguments of "parley mcp" starts an MCP server and begins a session with it, "kill" ends the MCP server as kill -9 does, and "shell"
// runs the rest of the line in a shell. After each command it prints what came of it, and a line with a dot.
func connectedClient() {
	var server *exec.Cmd
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		what, rest, _ := strings.Cut(input.Text(), " ")
		switch what {
		case "mcp":
			server = startMCP(rest)
		case "kill":
			_ = server.Process.Kill()
			_ = server.Wait()
		case "shell":
			// A client gives its shell a session of its own, so that it can end what the shell starts.
			shell := exec.Command("/bin/sh", "-c", rest+"; :")
			shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			out, _ := shell.CombinedOutput()
			fmt.Print(string(out))
		}
		fmt.Println(".")
	}
	if server != nil {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
}

// startMCP starts an MCP server and prints its answer to the first request, which calls no tool.
func startMCP(arguments string) *exec.Cmd {
	server := exec.Command("parley", append([]string{"mcp"}, strings.Fields(arguments)...)...)
	stdin, err := server.StdinPipe()
	if err == nil {
		var stdout io.Reader
		if stdout, err = server.StdoutPipe(); err == nil {
			err = server.Start()
		}
		if err == nil {
			_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
				`"clientInfo":{"name":"fake","version":"1"}}}`+"\n")
			answer, _ := bufio.NewReader(stdout).ReadString('\n')
			fmt.Print(answer)
		}
	}
	if err != nil {
		fmt.Println(err)
	}
	return server
}
