package httpapi

import "net/http"

func artifactRoutes() []route {
	return []route{
		streamRoute(Operation{
			ID: "store-artifact", Method: http.MethodPost, Path: "/v1/artifacts", Tag: tagArtifacts,
			Summary:     "Store an artifact",
			Description: "Send the bytes as the request's body. The answer has the digest by which messages refer to the artifact. The hub removes a body that no message refers to after a day.",
			Status:      http.StatusCreated, MaxBody: bodyOfArtifact, TimeLimit: fileTime, RequestType: anyType,
		}, storeArtifact),
		streamRoute(Operation{
			ID: "fetch-artifact", Method: http.MethodGet, Path: "/v1/artifacts/{sha256}", Tag: tagArtifacts,
			Summary:     "Fetch an artifact",
			Description: "The caller must have stored the artifact, or be able to read a message that refers to it.",
			TimeLimit:   longTime, AnswerType: "application/octet-stream",
		}, sendArtifact),
		jsonRoute(Operation{
			ID: "count-artifacts", Method: http.MethodGet, Path: "/v1/artifacts", Tag: tagArtifacts,
			Summary: "Count the stored artifacts",
		}, artifactTotals),
	}
}

func credentialRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-tokens", Method: http.MethodGet, Path: "/v1/tokens", Tag: tagCredentials,
			Summary:     "List tokens",
			Description: "Lists do not show secrets.",
		}, listTokens),
		jsonRoute(Operation{
			ID: "make-token", Method: http.MethodPost, Path: "/v1/tokens", Tag: tagCredentials,
			Summary:     "Create a token",
			Description: "The answer shows the secret once. The hub keeps only its hash.",
			Status:      http.StatusCreated,
			Example:     `{"agent":"arya","scopes":["read","send"],"expires_in":2592000,"label":"the laptop"}`,
		}, makeToken),
		emptyRoute(Operation{
			ID: "revoke-token", Method: http.MethodDelete, Path: "/v1/tokens/{token}", Tag: tagCredentials,
			Summary:     "Revoke a token",
			Description: "The hub refuses the token from the next call on, and ends the token's open streams and calls.",
		}, revokeToken),
		streamRoute(Operation{
			ID: "make-link", Method: http.MethodPost, Path: "/v1/sign-in-links", Tag: tagCredentials,
			Summary:     "Create a sign-in link",
			Description: "The link signs one person in to a browser. It works once, within ten minutes.",
			Status:      http.StatusCreated,
			Example:     `{"agent":"user"}`,
		}, makeLink),
		streamRoute(Operation{
			ID: "end-session", Method: http.MethodDelete, Path: "/v1/session", Tag: tagCredentials,
			Summary: "Sign out",
			Status:  http.StatusNoContent,
		}, endSession),
	}
}

func eventRoutes() []route {
	return []route{
		streamRoute(Operation{
			ID: "follow-events", Method: http.MethodGet, Path: "/v1/events", Tag: tagEvents,
			Summary:     "Follow events",
			Description: "Returns server-sent events that the caller may see. The first event is ready. A stream continues after the given id without gaps or repeats. If the id is too old, the hub sends reset and continues with the newest event. The hub cuts off a reader that does not read for 10 seconds; it connects again with the id of its last event.",
			TimeLimit:   noTimeLimit, AnswerType: "text/event-stream",
		}, events),
	}
}

func hubRoutes() []route {
	return []route{
		pageRoute(Operation{
			ID: "health", Method: http.MethodGet, Path: "/healthz", Tag: tagHub,
			Summary:     "Check that the hub listens",
			Description: "The hub answers ok as soon as it listens.",
			AnswerType:  "text/plain",
		}, healthz),
		pageRoute(Operation{
			ID: "ready", Method: http.MethodGet, Path: "/readyz", Tag: tagHub,
			Summary:     "Check that the hub can work",
			Description: "The hub answers ok while it can store data, else 503.",
			AnswerType:  "text/plain",
		}, readyz),
		jsonRoute(Operation{
			ID: "status", Method: http.MethodGet, Path: "/v1/status", Tag: tagHub,
			Summary:     "Show the hub's status",
			Description: "Returns the version, the age, the totals, the free disk space and the alerts. Only owners see the hub's directory.",
		}, status),
		jsonRoute(Operation{
			ID: "attention", Method: http.MethodGet, Path: "/v1/attention", Tag: tagHub,
			Summary: "List what needs the caller's attention",
			Description: "Returns calls to approve, dead letters (for owners), asks and tasks for the caller, and messages that the caller must acknowledge " +
				"or answer. Each is listed once.",
		}, attention),
		streamRoute(Operation{
			ID: "export-hub", Method: http.MethodGet, Path: "/v1/export", Tag: tagHub,
			Summary:     "Export the whole hub",
			Description: "Returns one JSON object per line: a header, the agents, the conversations with their members, and the messages in order. The export refers to artifacts; only a backup has their bodies.",
			TimeLimit:   longTime, AnswerType: jsonLines,
		}, exportAll),
		streamRoute(Operation{
			ID: "import-hub", Method: http.MethodPost, Path: "/v1/import", Tag: tagHub,
			Summary:     "Import an export",
			Description: "Send the output of an export. The hub skips what it already has, so you can repeat an import that broke off. An import wakes nobody.",
			MaxBody:     importBody, TimeLimit: fileTime, RequestType: anyType,
		}, importAll),
		jsonRoute(Operation{
			ID: "make-backup", Method: http.MethodPost, Path: "/v1/backups", Tag: tagHub,
			Summary:     "Create a backup",
			Description: "The hub copies everything into a new directory on its machine while work goes on, and verifies the copy.",
			TimeLimit:   longTime,
			Example:     `{"directory":"/var/backups/parley/monday"}`,
		}, backup),
		streamRoute(Operation{
			ID: "check", Method: http.MethodPost, Path: "/v1/checks", Tag: tagHub,
			Summary:     "Verify all stored data",
			Description: `The hub answers with JSON lines: {"progress":…} now and then, and {"report":…} at the end.`,
			TimeLimit:   longTime, AnswerType: jsonLines,
		}, checkDeep),
		jsonRoute(Operation{
			ID: "list-audit", Method: http.MethodGet, Path: "/v1/audit", Tag: tagHub,
			Summary:     "List the audit log",
			Description: "Returns administrative acts and refusals, the oldest first.",
		}, listAudit),
		jsonRoute(Operation{
			ID: "verify-audit", Method: http.MethodGet, Path: "/v1/audit/verify", Tag: tagHub,
			Summary:     "Verify the audit log",
			Description: "The hub verifies the chain of hashes and compares the last hash with the copy outside the database.",
			TimeLimit:   longTime,
		}, verifyAudit),
	}
}

func pageRoutes() []route {
	return []route{
		pageRoute(Operation{
			ID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Tag: tagHub,
			Summary: "The OpenAPI document",
			Hidden:  true,
		}, serveOpenAPI),
		pageRoute(Operation{
			ID: "docs-page", Method: http.MethodGet, Path: "/docs", Tag: tagHub,
			Summary: "The documentation as a page",
			Hidden:  true,
		}, docsPage),
		pageRoute(Operation{
			ID: "front-page", Method: http.MethodGet, Path: "/", Tag: tagHub,
			Summary: "The front page",
			Hidden:  true,
		}, frontPage),
		pageRoute(Operation{
			ID: "sign-in-page", Method: http.MethodGet, Path: "/sign-in", Tag: tagHub,
			Summary: "Ask whether to sign in",
			Hidden:  true,
		}, signInPage),
		pageRoute(Operation{
			ID: "sign-in", Method: http.MethodPost, Path: "/sign-in", Tag: tagHub,
			Summary:     "Sign in",
			RequestType: "application/x-www-form-urlencoded", Hidden: true,
		}, signIn),
		pageRoute(Operation{
			ID: "sign-out", Method: http.MethodPost, Path: "/sign-out", Tag: tagHub,
			Summary:     "Sign out",
			RequestType: "application/x-www-form-urlencoded", Hidden: true,
		}, signOut),
		pageRoute(Operation{
			ID: "approve-page", Method: http.MethodGet, Path: "/approve/{secret}", Tag: tagHub,
			Summary: "Show the approval of a link",
			Hidden:  true,
		}, approvePage),
		pageRoute(Operation{
			ID: "approve", Method: http.MethodPost, Path: "/approve/{secret}", Tag: tagHub,
			Summary:     "Decide the approval of a link",
			RequestType: "application/x-www-form-urlencoded", Hidden: true,
		}, approve),
	}
}
