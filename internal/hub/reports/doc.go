// Package reports holds the messages that tell participants of an end: callbacks, copies of answers, progress reports, documents
// in the format of the requester.
package reports
