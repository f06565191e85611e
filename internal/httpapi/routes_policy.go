package httpapi

import "net/http"

func approvalRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-approvals", Method: http.MethodGet, Path: "/v1/approvals", Tag: tagApprovals,
			Summary:     "List approvals",
			Description: "Returns the approvals that the caller waits for or may decide, the newest first. Owners see all.",
		}, listApprovals),
		jsonRoute(Operation{
			ID: "show-approval", Method: http.MethodGet, Path: "/v1/approvals/{approval}", Tag: tagApprovals,
			Summary:     "Show an approval",
			Description: "Returns the approval with the exact call.",
		}, showApproval),
		jsonRoute(Operation{
			ID: "decide-approval", Method: http.MethodPost, Path: "/v1/approvals/{approval}/decide", Tag: tagApprovals,
			Summary: "Approve or deny a call",
			Description: "The first decision stands; a later one gets 409 E003 with the first decision. The hub makes an approved call once, " +
				"unchanged, and tells the caller the outcome.",
			Example: `{"approve":true,"note":"go ahead"}`,
		}, decideApproval),
		jsonRoute(Operation{
			ID: "request-tool-use", Method: http.MethodPost, Path: "/v1/approvals", Tag: tagApprovals, TimeLimit: toolUseTime,
			Summary: "Ask whether the caller's client may use a tool",
			Description: "Asks the manager of the agent if it is a person, and else the owners, and waits for the decision. The approval is executed if " +
				"the use is allowed, and else denied, expired or withdrawn. It covers exactly this call, and lives no longer than the request.",
			Example: `{"client":"claude","tool":"Bash","input":{"command":"make deploy"},"wait":300}`,
		}, requestToolUse),
	}
}

func permissionRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-permissions", Method: http.MethodGet, Path: "/v1/permissions", Tag: tagPermissions,
			Summary:     "List contact rules",
			Description: "Returns the caller's rules. Owners see all rules, or the rules of one agent.",
		}, listPermissions),
		jsonRoute(Operation{
			ID: "permit", Method: http.MethodPut, Path: "/v1/permissions", Tag: tagPermissions,
			Summary:     "Create or change a contact rule",
			Description: "Changes the rule with the same agent, target and effect, if there is one.",
			Example:     `{"agent":"arya","target":"gendry","effect":"allow","requires_approval":true}`,
		}, permit),
		emptyRoute(Operation{
			ID: "unpermit", Method: http.MethodDelete, Path: "/v1/permissions", Tag: tagPermissions,
			Summary: "Remove a contact rule",
		}, unpermit),
		jsonRoute(Operation{
			ID: "check-permission", Method: http.MethodGet, Path: "/v1/permissions/check", Tag: tagPermissions,
			Summary:     "Check whether one participant may contact another",
			Description: "Returns each rule that the hub checked, in order. The last one decided.",
		}, checkPermission),
	}
}
