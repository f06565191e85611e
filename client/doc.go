// Package client calls a Parley hub over the hub's unix socket or over TCP. The command line uses this package, and other
// programs can use it.
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
// Each operation of the hub has one method, with the types of package parley. A method returns an error of the hub as a
// *parley.Error: its code, its reason, its suggestion, and the time to wait before a retry. If the hub cannot be reached, the
// error is E002. If the hub does not answer in time, it is E004. If ctx has ended, the error is that of ctx. A call that needs
// an approval returns *parley.Held.
//
// Many goroutines can use a Client at once. It keeps connections open between calls.
package client
