//go:build !unix

package home

import "io/fs"

func isOwnedByUser(fs.FileInfo) bool { return true }

func isMadeByUser(fs.FileInfo) bool { return true }

func hasOtherNames(fs.FileInfo) bool { return false }
