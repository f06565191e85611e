package cli

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/server"
)

// examineHub asks the hub that runs.
func (d *doctor) examineHub(ctx context.Context) error {
	hub, err := d.app.newClientIn(d.dir)
	if err != nil {
		return err
	}
	defer hub.Close()
	status, err := hub.Status(ctx)
	if err != nil {
		d.failed("hub", err)
		return nil
	}
	d.note("hub", fine, "the hub runs as process %d since %s", status.PID, d.app.formatTime(status.StartedAt))
	for _, reason := range status.NotReady {
		d.note("ready", bad, "the hub cannot store anything at present: %s", reason.Message).Mend = reason.Suggestion
	}
	d.checkVersion(status.Version)
	d.checkSocket(status.Socket)
	d.checkAddress(ctx, status.Address)
	d.checkClock(newestOf(ctx, hub))
	d.checkDisk(status.DiskFree, status.DiskTotal)
	for _, alert := range parley.GroupAlerts(status.Alerts) {
		if alert.Name != "disk" { // which was looked at
			d.note("alert", warn, "%s", alert.Message).Mend = d.app.alertRemedy(alert)
		}
	}
	for _, agent := range status.UnknownClients {
		d.note("clients", warn, "the program that opened the session of %s is not a known client: the hub may take other commands of that program for yours", agent).
			Mend = "if it is an agent's client, add its name to clients in config.yaml"
	}
	if bridges, err := hub.Bridges(ctx); err != nil {
		d.failed("bridges", err)
	} else {
		d.checkBridges(bridges)
	}
	if len(status.NotReady) == 0 || d.deep {
		d.checkDatabase(ctx, status.Store, hub)
	}
	return nil
}

// checkBridges looks whether the tree of each bridge is there, and how it gets on.
func (d *doctor) checkBridges(bridges []parley.BridgeView) {
	sound := int64(0)
	for _, v := range bridges {
		what, remedy := d.app.bridgeProblem(v)
		switch info, err := os.Stat(v.Root); {
		case !v.Outside && (err != nil || !info.IsDir()):
			d.note("bridges", bad, "%s: there is no directory %s that this user can see", v.ID, v.Root).Mend = "restore the directory, or remove the bridge: " +
				d.app.commandLine("bridge", "remove", v.ID)
		case what != "":
			d.note("bridges", warn, "%s", what).Mend = remedy
		default:
			sound++
		}
	}
	if sound > 0 {
		d.note("bridges", fine, "%s", formatQuantity(sound, "bridge works", "bridges work"))
	}
}

func (d *doctor) checkVersion(hub string) {
	if hub == parley.Version {
		d.note("versions", fine, "program and hub are parley %s (%s)", hub, system())
		return
	}
	d.note("versions", warn, "this program is parley %s, the hub is %s", parley.Version, hub).Mend = d.restart()
}

func (d *doctor) restart() string {
	return "restart the hub: " + d.app.commandLine("down") + " && " + d.app.commandLine("up", "--detach")
}

func (d *doctor) checkSocket(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		d.note("socket", bad, "%v", err).Mend = d.restart()
	case info.Mode().Perm()&0o077 != 0:
		d.note("socket", bad, "other users can access %s", path).Mend = "chmod 600 " + path
	default:
		d.note("socket", fine, "%s answers", path)
	}
}

// checkAddress makes sure that what answers at the address is the hub.
func (d *doctor) checkAddress(ctx context.Context, address string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	var response *http.Response
	if err == nil {
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		d.note("address", bad, "%s does not answer: %v", address, err).Mend = "check the firewall, or choose another address with --addr"
		return
	}
	_ = response.Body.Close()
	if response.Header.Get("Parley-Version") == "" {
		d.note("address", bad, "another program answers at %s", address).Mend = "choose another address with --addr"
		return
	}
	d.note("address", fine, "http://%s answers", address)
}

// newestOf is when the newest thing happened that the caller may see, if that is known.
func newestOf(ctx context.Context, hub *client.Client) *time.Time {
	page, err := hub.Conversations(ctx, client.Conversations{All: true}, client.From{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		return nil
	}
	return &page.Items[0].UpdatedAt
}

// checkDatabase lets the hub verify everything where that is asked for. It has looked at the structure itself.
func (d *doctor) checkDatabase(ctx context.Context, kind string, hub *client.Client) {
	if !d.deep {
		d.note("database", fine, "%s, in use by the hub; --deep verifies everything in it", kind)
		return
	}
	tell, stop := d.app.showSteps(ctx, "verifying")
	report, err := hub.CheckDeep(ctx, func(r parley.CheckReport) { tell(progressOf(r)) })
	stop()
	d.noteReport(kind, report, err)
	if audit, err := hub.VerifyAudit(ctx); err != nil {
		d.failed("audit", err)
	} else {
		d.noteAudit(audit)
	}
}

func (d *doctor) noteAudit(audit parley.AuditReport) {
	if audit.OK {
		d.note("audit", fine, "%s", formatQuantity(audit.Entries, "entry is unchanged", "entries are unchanged"))
	}
	for _, problem := range audit.Problems {
		d.note("audit", bad, "%s", problem).Mend = "find out who changed the audit log"
	}
}

func progressOf(r parley.CheckReport) string {
	return formatQuantity(r.Messages, "message", "messages") + ", " + formatQuantity(r.Artifacts, "artifact", "artifacts")
}

// examineStore opens what a hub that does not run has stored.
func (d *doctor) examineStore(ctx context.Context) error {
	d.note("hub", fine, "the hub is not running")
	d.note("versions", fine, "this program is parley %s (%s)", parley.Version, system())
	tell, stop := d.app.showSteps(ctx, "verifying")
	found, err := server.Examine(ctx, d.app.offlineOptions(d.dir, d.config), d.deep, func(r parley.CheckReport) { tell(progressOf(r)) })
	stop()
	d.checkClock(found.Newest)
	d.checkDisk(found.DiskFree, found.DiskTotal)
	if e := parley.AsError(err); e != nil && e.Reason == parley.NotFound {
		d.note("database", warn, "%s", e.Message).Mend = e.Suggestion
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
		d.note("database", fine, "the database can be opened; --deep verifies everything in it")
	}
	return ctx.Err()
}

func (d *doctor) noteReport(kind string, report parley.CheckReport, err error) {
	if err != nil {
		d.failed("database", err)
		return
	}
	for _, problem := range report.Problems {
		d.note("database", bad, "%s", problem).Mend = "restore the newest backup, or store the named items again"
	}
	if len(report.Problems) == 0 {
		d.note("database", fine, "%s is sound: %s", kind, progressOf(report))
	}
}
