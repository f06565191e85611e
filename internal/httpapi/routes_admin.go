package httpapi

import "net/http"

func artifactRoutes() []route {
	return []route{
		streams(Operation{
			ID: "store-artifact", Method: http.MethodPost, Path: "/v1/artifacts", Tag: tagArtifacts,
			Summary:     "Store a body",
			Description: "The bytes themselves are the request. The answer has the digest by which messages refer to it; what no message refers to is removed after a day.",
			Status:      http.StatusCreated, Body: bodyOfArtifact, Time: fileTime, Takes: anyType,
		}, storeArtifact),
		streams(Operation{
			ID: "fetch-artifact", Method: http.MethodGet, Path: "/v1/artifacts/{sha256}", Tag: tagArtifacts,
			Summary:     "Fetch a body",
			Description: "Of those the caller has stored, or that a message it may read refers to.",
			Time:        longTime, Gives: "application/octet-stream",
		}, sendArtifact),
		answers(Operation{
			ID: "count-artifacts", Method: http.MethodGet, Path: "/v1/artifacts", Tag: tagArtifacts,
			Summary: "How much is stored",
		}, artifactTotals),
	}
}

func credentialRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-tokens", Method: http.MethodGet, Path: "/v1/tokens", Tag: tagCredentials,
			Summary:     "List tokens",
			Description: "Never their secrets.",
		}, listTokens),
		answers(Operation{
			ID: "make-token", Method: http.MethodPost, Path: "/v1/tokens", Tag: tagCredentials,
			Summary:     "Make a token",
			Description: "Its secret is in the answer, and nowhere else.",
			Status:      http.StatusCreated,
			Example:     `{"agent":"arya","scopes":["read","send"],"expires_in":2592000,"label":"the laptop"}`,
		}, makeToken),
		does(Operation{
			ID: "revoke-token", Method: http.MethodDelete, Path: "/v1/tokens/{token}", Tag: tagCredentials,
			Summary:     "Revoke a token",
			Description: "It is not good from the next call on, and what it holds open ends.",
		}, revokeToken),
		streams(Operation{
			ID: "make-link", Method: http.MethodPost, Path: "/v1/sign-in-links", Tag: tagCredentials,
			Summary:     "Make a link to sign in with",
			Description: "For one person's browser; it works once, for ten minutes.",
			Status:      http.StatusCreated,
			Example:     `{"agent":"user"}`,
		}, makeLink),
		streams(Operation{
			ID: "end-session", Method: http.MethodDelete, Path: "/v1/session", Tag: tagCredentials,
			Summary: "Sign out",
			Status:  http.StatusNoContent,
		}, endSession),
	}
}

func eventRoutes() []route {
	return []route{
		streams(Operation{
			ID: "follow-events", Method: http.MethodGet, Path: "/v1/events", Tag: tagEvents,
			Summary:     "Follow what happens",
			Description: "Server-sent events, cut to what the caller may see. The first is ready. A stream goes on after the id given without gap or repeat; an id that is too old gets reset, and the stream goes on from the newest. A reader that does not read for 10 seconds is cut off; it connects again with the id of its last event.",
			Time:        endless, Gives: "text/event-stream",
		}, events),
	}
}

func hubRoutes() []route {
	return []route{
		pages(Operation{
			ID: "health", Method: http.MethodGet, Path: "/healthz", Tag: tagHub,
			Summary:     "Whether the hub is there",
			Description: "Answers ok as soon as the hub listens.",
			Gives:       "text/plain",
		}, healthz),
		pages(Operation{
			ID: "ready", Method: http.MethodGet, Path: "/readyz", Tag: tagHub,
			Summary:     "Whether the hub can work",
			Description: "Answers ok while the hub can store what it is given, else 503.",
			Gives:       "text/plain",
		}, readyz),
		answers(Operation{
			ID: "status", Method: http.MethodGet, Path: "/v1/status", Tag: tagHub,
			Summary:     "How the hub is doing",
			Description: "Its version and age, what it holds, the room left on its disk, and what needs a person. Where it is on its machine is for owners.",
		}, status),
		answers(Operation{
			ID: "attention", Method: http.MethodGet, Path: "/v1/attention", Tag: tagHub,
			Summary: "What needs the caller",
			Description: "Calls to decide about, dead letters (for owners), asks and tasks for the caller, and messages that it must acknowledge " +
				"or answer. Each is listed once.",
		}, attention),
		streams(Operation{
			ID: "export-hub", Method: http.MethodGet, Path: "/v1/export", Tag: tagHub,
			Summary:     "Export the whole hub",
			Description: "One JSON object a line: a header, the agents, the conversations with their members, and the messages in their order. Artifacts are referred to; their bodies are in a backup.",
			Time:        longTime, Gives: jsonLines,
		}, exportAll),
		streams(Operation{
			ID: "import-hub", Method: http.MethodPost, Path: "/v1/import", Tag: tagHub,
			Summary:     "Import what was exported",
			Description: "Takes what an export gives. What is there already is left as it is, so that an import that broke off can be made again. Nobody is woken.",
			Body:        importBody, Time: fileTime, Takes: anyType,
		}, importAll),
		answers(Operation{
			ID: "make-backup", Method: http.MethodPost, Path: "/v1/backups", Tag: tagHub,
			Summary:     "Make a backup",
			Description: "Copies everything into a new directory on the hub's machine while work goes on, and verifies the copy.",
			Time:        longTime,
			Example:     `{"directory":"/var/backups/parley/monday"}`,
		}, backup),
		streams(Operation{
			ID: "check", Method: http.MethodPost, Path: "/v1/checks", Tag: tagHub,
			Summary:     "Verify everything that is stored",
			Description: `Answers with JSON lines: {"progress":…} now and then, and at last {"report":…}.`,
			Time:        longTime, Gives: jsonLines,
		}, checkDeep),
		answers(Operation{
			ID: "list-audit", Method: http.MethodGet, Path: "/v1/audit", Tag: tagHub,
			Summary:     "List the audit log",
			Description: "Administrative acts and refusals, the oldest first.",
		}, listAudit),
		answers(Operation{
			ID: "verify-audit", Method: http.MethodGet, Path: "/v1/audit/verify", Tag: tagHub,
			Summary:     "Verify the audit log",
			Description: "Walks along the chain of hashes and compares its end with the one kept outside the database.",
			Time:        longTime,
		}, verifyAudit),
	}
}

func pageRoutes() []route {
	return []route{
		pages(Operation{
			ID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Tag: tagHub,
			Summary: "The OpenAPI document",
			Hidden:  true,
		}, openAPI),
		pages(Operation{
			ID: "docs-page", Method: http.MethodGet, Path: "/docs", Tag: tagHub,
			Summary: "The documentation as a page",
			Hidden:  true,
		}, docsPage),
		pages(Operation{
			ID: "front-page", Method: http.MethodGet, Path: "/", Tag: tagHub,
			Summary: "What this is",
			Hidden:  true,
		}, frontPage),
		pages(Operation{
			ID: "sign-in-page", Method: http.MethodGet, Path: "/sign-in", Tag: tagHub,
			Summary: "Ask whether to sign in",
			Hidden:  true,
		}, signInPage),
		pages(Operation{
			ID: "sign-in", Method: http.MethodPost, Path: "/sign-in", Tag: tagHub,
			Summary: "Sign in",
			Takes:   "application/x-www-form-urlencoded", Hidden: true,
		}, signIn),
		pages(Operation{
			ID: "sign-out", Method: http.MethodPost, Path: "/sign-out", Tag: tagHub,
			Summary: "Sign out",
			Takes:   "application/x-www-form-urlencoded", Hidden: true,
		}, signOut),
		pages(Operation{
			ID: "approve-page", Method: http.MethodGet, Path: "/approve/{secret}", Tag: tagHub,
			Summary: "Show the approval of a link",
			Hidden:  true,
		}, approvePage),
		pages(Operation{
			ID: "approve", Method: http.MethodPost, Path: "/approve/{secret}", Tag: tagHub,
			Summary: "Decide the approval of a link",
			Takes:   "application/x-www-form-urlencoded", Hidden: true,
		}, approve),
	}
}
