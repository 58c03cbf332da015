import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** Bytes that look random but are the same for the same seed (xorshift). */
export function data(size: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(size / 4))
  let state = (seed * 2654435761 + 1) >>> 0 || 1
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
  return Buffer.from(words.buffer, 0, size)
}

/** A directory for the files of one test file, removed after its tests. */
export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 's3proxy-client-'))
  afterAll(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Files by their path below a directory. */
export type Tree = ReadonlyMap<string, Buffer>

/** A nested tree of `count` small files in ten directories of two levels, some with odd names. */
export function sampleTree(count: number): Tree {
  const odd = ['with space', 'plus+sign', '100%', 'ünï', 'a=b&c']
  const name = (number: number): string =>
    `top ${number % 5}/sub-${number % 2}/${odd[number % odd.length]} ${String(number).padStart(5, '0')}.bin`
  return new Map(Array.from({ length: count }, (_, number) => [name(number), data(64 + (number % 64), number)]))
}

/**
 * Writes the files of a tree below a directory, with a modification time long past: tools that compare times must
 * not find the source newer than its copy of the same second.
 */
export async function writeTree(directory: string, tree: Tree): Promise<void> {
  const past = new Date('2026-01-01T00:00:00Z')
  for (const [path, bytes] of tree) {
    const file = join(directory, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
    await utimes(file, past, past)
  }
}

/** All files below a directory. */
export async function readTree(directory: string): Promise<Tree> {
  const tree = new Map<string, Buffer>()
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    tree.set(file.slice(directory.length + 1), await readFile(file))
  }
  return tree
}

/** The part of a tree whose paths start with `directory` (which ends in a slash), seen from there. */
export function below(tree: Tree, directory: string): Tree {
  const inside = [...tree].filter(([path]) => path.startsWith(directory))
  return new Map(inside.map(([path, bytes]) => [path.slice(directory.length), bytes]))
}

/** The paths at which two trees differ, in either direction; empty when they are the same byte for byte. */
export function differences(left: Tree, right: Tree): string[] {
  const paths = new Set([...left.keys(), ...right.keys()])
  return [...paths].filter((path) => !left.get(path)?.equals(right.get(path) ?? Buffer.from('absent: ')))
}
