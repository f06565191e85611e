//go:build !unix

package connect

import "io/fs"

func isOwnedByUser(fs.FileInfo) bool { return true }

func hasOtherNames(fs.FileInfo) bool { return false }
