/** Thrown when a file ends before the length that was announced: the connection is closed, never padded. */
export class FileTruncated extends Error {
  constructor(at: number, end: number) {
    super(`the file ended at byte ${at}, before ${end}`)
  }
}
