package httpapi

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/parley-hub/parley"
)

type attentionInput struct {
	Limit int `query:"limit" minimum:"0" maximum:"1000" doc:"The most items of each kind to return; 0 or missing: 10."`
}

func attention(ctx context.Context, c *call, in *attentionInput) (parley.Attention, error) {
	return c.hub.Attention(ctx, c.caller, in.Limit)
}

func status(ctx context.Context, c *call, _ *noInput) (parley.HubStatus, error) {
	return c.hub.Status(ctx, c.caller)
}

func listAudit(ctx context.Context, c *call, in *pageInput) (List[parley.AuditEntry], error) {
	after, err := in.after()
	if err != nil {
		return List[parley.AuditEntry]{}, err
	}
	list, err := c.hub.AuditLog(ctx, c.caller, after, in.size())
	return pageByNumber(list, in.size(), func(e parley.AuditEntry) int64 { return e.Num }), err
}

func verifyAudit(ctx context.Context, c *call, _ *noInput) (parley.AuditReport, error) {
	return c.hub.VerifyAudit(ctx, c.caller)
}

// BackupRequest names the directory of a backup.
type BackupRequest struct {
	Directory string `json:"directory" doc:"A new directory on the hub's machine, as an absolute path."`
}

func backup(ctx context.Context, c *call, in *bodyInput[BackupRequest]) (parley.Backup, error) {
	return c.hub.Backup(ctx, c.caller, in.Body.Directory)
}

// CheckLine is one line of the answer to a check: the report so far, or in the last line the final report.
type CheckLine struct {
	Progress *parley.CheckReport `json:"progress,omitempty"`
	Report   *parley.CheckReport `json:"report,omitempty"`
}

func checkDeep(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	out := &typedWriter{w, jsonLines}
	report, err := c.hub.CheckDeep(r.Context(), c.caller, func(sofar parley.CheckReport) {
		_ = writeLine(out, CheckLine{Progress: &sofar}) // if the caller has disconnected, the context ends the check
	})
	if err != nil {
		return err
	}
	return writeLine(out, CheckLine{Report: &report})
}

// writeLine writes a value as a line of JSON, and flushes it.
func writeLine(w http.ResponseWriter, v any) error {
	raw, err := json.Marshal(v, writeOptions)
	if err == nil {
		_, err = w.Write(append(raw, '\n'))
	}
	if err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

func exportAll(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	return c.hub.ExportAll(r.Context(), c.caller, &typedWriter{w, jsonLines})
}

func importAll(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	report, err := c.hub.Import(r.Context(), c.caller, r.Body)
	if err == nil {
		writeJSON(w, http.StatusOK, report)
	}
	return err
}
