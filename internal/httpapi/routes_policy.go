package httpapi

import "net/http"

func approvalRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-approvals", Method: http.MethodGet, Path: "/v1/approvals", Tag: tagApprovals,
			Summary:     "List approvals",
			Description: "The newest first: what the caller waits for, and what it may decide; for owners all.",
		}, listApprovals),
		answers(Operation{
			ID: "show-approval", Method: http.MethodGet, Path: "/v1/approvals/{approval}", Tag: tagApprovals,
			Summary:     "Show an approval",
			Description: "With the exact call it is about.",
		}, showApproval),
		answers(Operation{
			ID: "decide-approval", Method: http.MethodPost, Path: "/v1/approvals/{approval}/decide", Tag: tagApprovals,
			Summary: "Approve or deny a call",
			Description: "The first answer stands; a later one gets 409 E003 with what was decided. An approved call is made once, as it " +
				"was, and its caller is told what came of it.",
			Example: `{"approve":true,"note":"go ahead"}`,
		}, decideApproval),
	}
}

func permissionRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-permissions", Method: http.MethodGet, Path: "/v1/permissions", Tag: tagPermissions,
			Summary:     "List rules about who may contact whom",
			Description: "The caller's own; for owners all, or those of one agent.",
		}, listPermissions),
		answers(Operation{
			ID: "permit", Method: http.MethodPut, Path: "/v1/permissions", Tag: tagPermissions,
			Summary:     "Make a rule",
			Description: "Or change the one of the same agent, target and effect.",
			Example:     `{"agent":"arya","target":"gendry","effect":"allow","requires_approval":true}`,
		}, permit),
		does(Operation{
			ID: "unpermit", Method: http.MethodDelete, Path: "/v1/permissions", Tag: tagPermissions,
			Summary: "Remove a rule",
		}, unpermit),
		answers(Operation{
			ID: "check-permission", Method: http.MethodGet, Path: "/v1/permissions/check", Tag: tagPermissions,
			Summary:     "Whether one participant may contact another, and why",
			Description: "Each rule that was looked at, in order; the last one decided.",
		}, checkPermission),
	}
}
