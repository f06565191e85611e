// Package client speaks to a Parley hub over its unix socket or over HTTP. It is what the command line
// uses, and what other programs may use.
//
//	options, err := client.Find("") // PARLEY_URL and PARLEY_TOKEN, or the hub of this user
//	…
//	c, err := client.New(options)
//	…
//	receipt, err := c.Post(ctx, parley.Draft{
//		Direct:  []string{"arya"},
//		Content: parley.Content{Text: "Where is the report?"},
//	})
//
// There is one method for each operation of the hub, named like the hub's own, with the types of package
// parley. An error of the hub comes back as the *parley.Error it was: its code, its reason, its suggestion,
// and after how long to try again. A hub that does not answer is E002. When ctx has ended, the error
// is that of ctx.
//
// A Client may be used by many goroutines at once; it keeps connections open between calls.
package client
