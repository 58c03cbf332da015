/**
 * The WebAssembly module behind `crc.ts`, assembled here, so that what runs is what one reads: 64-bit arithmetic that
 * JavaScript does not have. It exports `memory`, `update(crc: i64, length: i32): i64` over the bytes at `dataOffset`
 * with the tables at 0 (slicing by 16: `tables[k][byte]` is the CRC of the byte and k zero bytes), and
 * `multiply(a: i64, b: i64, polynomial: i64, width: i32): i64` of polynomials modulo the CRC's (all bit-reflected).
 */

/** Tables of 256 entries of 8 bytes each. */
export const tableCount = 16
export const tableBytes = 2048
export const dataOffset = tableCount * tableBytes
export const dataBytes = 96 * 1024

const i32 = 0x7f
const i64 = 0x7e
const op = {
  block: 0x02,
  loop: 0x03,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  get: 0x20,
  set: 0x21,
  i64Load: 0x29,
  i32Load8: 0x2d,
  i32Const: 0x41,
  i64Const: 0x42,
  i32Eqz: 0x45,
  i32LtU: 0x49,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i64Sub: 0x7d,
  i64And: 0x83,
  i64Xor: 0x85,
  i64Shl: 0x86,
  i64ShrU: 0x88,
  i32Wrap: 0xa7,
  i64ExtendU: 0xad,
} as const
const noResult = 0x40

export function assembleCrcModule(): Uint8Array {
  const types = [
    [0x60, ...vector([[i64], [i32]]), ...vector([[i64]])],
    [0x60, ...vector([[i64], [i64], [i64], [i32]]), ...vector([[i64]])],
  ]
  const functions = [[0], [1]]
  const memories = [[0x00, ...unsigned((dataOffset + dataBytes) / 65536)]]
  const exported = [
    [...name('memory'), 0x02, 0],
    [...name('update'), 0x00, 0],
    [...name('multiply'), 0x00, 1],
  ]
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, types),
    ...section(3, functions),
    ...section(5, memories),
    ...section(7, exported),
    ...section(10, [body(updateLocals, update()), body(multiplyLocals, multiply())]),
  ])
}

/** Parameters crc 0, length 1; locals: position 2, the two words 3 and 4. */
const updateLocals = [
  [1, i32],
  [2, i64],
]

function update(): number[] {
  const [crc, length, position, first, second] = [0, 1, 2, 3, 4]
  const word = (offset: number) => [op.get, position, op.i64Load, 0, ...unsigned(offset)]
  const lookups = Array.from({ length: 16 }, (_, k) => [
    ...lookup(k < 8 ? first : second, k % 8, tableCount - 1 - k),
    ...(k > 0 ? [op.i64Xor] : []),
  ])
  return [
    ...[op.i32Const, ...signed(dataOffset), op.set, position],
    ...[op.block, noResult, op.loop, noResult],
    ...[op.get, length, op.i32Const, 16, op.i32LtU, op.brIf, 1],
    ...[...word(0), op.get, crc, op.i64Xor, op.set, first],
    ...[...word(8), op.set, second],
    ...[...lookups.flat(), op.set, crc],
    ...[op.get, position, op.i32Const, 16, op.i32Add, op.set, position],
    ...[op.get, length, op.i32Const, 16, op.i32Sub, op.set, length],
    ...[op.br, 0, op.end, op.end],
    // What is left, byte by byte: crc = tables[0][(crc ^ byte) & 255] ^ (crc >> 8).
    ...[op.block, noResult, op.loop, noResult],
    ...[op.get, length, op.i32Eqz, op.brIf, 1],
    ...[op.get, position, op.i32Load8, 0, 0, op.i64ExtendU, op.get, crc, op.i64Xor, op.set, first],
    ...[...lookup(first, 0, 0), op.get, crc, op.i64Const, 8, op.i64ShrU, op.i64Xor, op.set, crc],
    ...[op.get, position, op.i32Const, 1, op.i32Add, op.set, position],
    ...[op.get, length, op.i32Const, 1, op.i32Sub, op.set, length],
    ...[op.br, 0, op.end, op.end],
    ...[op.get, crc],
  ]
}

/** tables[table][byte `index` of the word] */
function lookup(word: number, index: number, table: number): number[] {
  const shift = index === 0 ? [op.i64Const, 3, op.i64Shl] : [op.i64Const, ...signed(index * 8 - 3), op.i64ShrU]
  const address = [op.get, word, ...shift, op.i64Const, ...signed(0x7f8), op.i64And, op.i32Wrap]
  return [...address, op.i64Load, 0, ...unsigned(table * tableBytes)]
}

/** Parameters a 0, b 1, polynomial 2, width 3; local: product 4. One bit of `a` a turn, highest power last. */
const multiplyLocals = [[1, i64]]

function multiply(): number[] {
  const [a, b, polynomial, width, product] = [0, 1, 2, 3, 4]
  /** All ones when the bit on the stack is 1, else 0. */
  const mask = (bit: number[]) => [op.i64Const, 0, ...bit, op.i64Const, 1, op.i64And, op.i64Sub]
  return [
    ...[op.block, noResult, op.loop, noResult],
    ...[op.get, width, op.i32Eqz, op.brIf, 1],
    ...[op.get, width, op.i32Const, 1, op.i32Sub, op.set, width],
    ...mask([op.get, a, op.get, width, op.i64ExtendU, op.i64ShrU]),
    ...[op.get, b, op.i64And, op.get, product, op.i64Xor, op.set, product],
    ...mask([op.get, b]),
    ...[op.get, polynomial, op.i64And, op.get, b, op.i64Const, 1, op.i64ShrU, op.i64Xor, op.set, b],
    ...[op.br, 0, op.end, op.end],
    ...[op.get, product],
  ]
}

function body(locals: number[][], code: number[]): number[] {
  const bytes = [...vector(locals), ...code, op.end]
  return [...unsigned(bytes.length), ...bytes]
}

function section(id: number, items: number[][]): number[] {
  const content = vector(items)
  return [id, ...unsigned(content.length), ...content]
}

function vector(items: number[][]): number[] {
  return [...unsigned(items.length), ...items.flat()]
}

function name(text: string): number[] {
  return vector([...Buffer.from(text)].map((byte) => [byte]))
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)]
}
