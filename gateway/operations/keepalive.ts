import { declaration } from '../s3/xml/write.ts'

const defaultPauseMs = 1000
/** However short the interval is set, the answer is no torrent. */
const shortestPauseMs = 100

/**
 * The body of an answer that takes long (spec §8): whitespace after the first pause (one second), then after pauses that
 * double up to `intervalMs`, then the document. A document that is there within the first pause is the whole body; one
 * that fails within it rejects, as an answer can still be anything then. Later `asDocument` says what a failure looks like.
 */
export async function keepalive(
  document: Promise<string>,
  intervalMs: number,
  asDocument: (error: unknown) => string,
  firstPauseMs = defaultPauseMs,
): Promise<string | AsyncIterable<string>> {
  const early = await within(document, firstPauseMs)
  return early ?? drip(document.catch(asDocument), firstPauseMs, intervalMs)
}

async function* drip(document: Promise<string>, firstPauseMs: number, intervalMs: number): AsyncGenerator<string> {
  const longestPauseMs = Math.max(shortestPauseMs, intervalMs)
  let pauseMs = firstPauseMs
  for (;;) {
    yield ' '
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    const text = await within(document, pauseMs)
    if (text === undefined) continue
    // An XML declaration is one only at the very start.
    if (text !== '') yield text.startsWith(declaration) ? text.slice(declaration.length) : text
    return
  }
}

/** Undefined when it takes longer. */
function within(document: Promise<string>, ms: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    document.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
