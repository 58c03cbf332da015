package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// makeFiles makes empty files in a directory, the arguments being its path and their number.
func makeFiles(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: load files DIRECTORY COUNT")
	}
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if err := os.Chdir(args[0]); err != nil {
		return err
	}
	for i := range count {
		fd, err := syscall.Open(fmt.Sprintf("file-%07d", i), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o644)
		if err != nil {
			return err
		}
		if err := syscall.Close(fd); err != nil {
			return err
		}
	}
	return nil
}
