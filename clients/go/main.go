// The AWS SDK for Go v2 against the gateway: one function for each scenario, run by name (see setup/scenarios.ts).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

var scenarios = map[string]func(){
	"write_and_read":   writeAndRead,
	"odd_keys":         oddKeys,
	"stream":           stream,
	"multipart":        multipart,
	"listing":          listing,
	"bulk_delete":      bulkDelete,
	"tagging":          tagging,
	"conditions":       conditions,
	"ranges":           ranges,
	"checksums":        checksums,
	"presigned":        presigned,
	"errors_are_typed": errorsAreTyped,
}

var (
	ctx    = context.Background()
	client = newClient("alice")
)

func newClient(user string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(os.Getenv("S3_ENDPOINT")),
		Region:       "us-east-1",
		UsePathStyle: true,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: user, SecretAccessKey: "unused"}, nil
		}),
		RetryMaxAttempts: 1,
	})
}

// failure is what a scenario panics with; anything else is a mistake of the script.
type failure string

func check(holds bool, format string, arguments ...any) {
	if !holds {
		panic(failure(fmt.Sprintf(format, arguments...)))
	}
}

func must[T any](value T, err error) T {
	check(err == nil, "%v", err)
	return value
}

// data gives bytes that look random but are the same for the same seed.
func data(size int, seed byte) []byte {
	bytes := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(bytes)
	return bytes
}

func createBucket(name string) *string {
	must(client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}))
	return &name
}

func runScenario(name string) (answer map[string]any) {
	defer func() {
		if reason := recover(); reason != nil {
			if told, ok := reason.(failure); ok {
				answer = map[string]any{"ok": false, "error": string(told)}
				return
			}
			panic(reason)
		}
	}()
	scenario, known := scenarios[name]
	check(known, "no such scenario; there are %v", slices.Sorted(func(yield func(string) bool) {
		for name := range scenarios {
			if !yield(name) {
				return
			}
		}
	}))
	scenario()
	return map[string]any{"ok": true}
}

func main() {
	answers := json.NewEncoder(os.Stdout)
	for _, name := range os.Args[1:] {
		answers.Encode(runScenario(name))
	}
	if len(os.Args) > 1 {
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answers.Encode(runScenario(lines.Text()))
	}
}
