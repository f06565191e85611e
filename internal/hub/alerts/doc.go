// Package alerts holds what needs a person: alerts of the hub, damaged rows, the disk.
package alerts
