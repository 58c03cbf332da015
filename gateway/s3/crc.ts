import { assembleCrcModule, dataBytes, dataOffset, tableBytes, tableCount } from './crc-module.ts'

/** A cyclic redundancy check with reflected bits and all-ones start and end: CRC32, CRC32C, CRC64NVME. */
export interface Crc {
  /** Bytes of the value. */
  readonly size: 4 | 8
  /** CRC of what went before and `bytes` together; that of nothing is 0n. */
  update(crc: bigint, bytes: Uint8Array): bigint
  /** CRC of two contents one after the other, from the CRC of each and the length of the second in bytes. */
  combine(crc1: bigint, crc2: bigint, length2: number): bigint
}

interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer }
  update(crc: bigint, length: number): bigint
  multiply(a: bigint, b: bigint, polynomial: bigint, width: number): bigint
}

/** What we use of WebAssembly; TypeScript has its types only together with those of browsers. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly

let compiled: object | undefined

/** Makes the tables and the kernel of one polynomial (bit-reflected); each thread makes its own, when first needed. */
export function createCrc(polynomial: bigint, size: 4 | 8): Crc {
  compiled ??= new Module(assembleCrcModule())
  const kernel = new Instance(compiled).exports as Kernel
  const { buffer } = kernel.memory
  fillTables(new BigUint64Array(buffer, 0, (tableCount * tableBytes) / 8), polynomial)
  const data = new Uint8Array(buffer, dataOffset, dataBytes)
  const width = size * 8
  const ones = (1n << BigInt(width)) - 1n
  const multiply = (a: bigint, b: bigint) => BigInt.asUintN(64, kernel.multiply(a, b, polynomial, width))
  let lastLength = -1
  let lastShift = 0n

  function update(crc: bigint, bytes: Uint8Array): bigint {
    let register = crc ^ ones
    for (let start = 0; start < bytes.length; start += dataBytes) {
      const length = Math.min(dataBytes, bytes.length - start)
      data.set(length === bytes.length ? bytes : bytes.subarray(start, start + length))
      register = BigInt.asUintN(64, kernel.update(register, length))
    }
    return register ^ ones
  }

  /** x^(8 · bytes): what to multiply with to append so many zero bytes. In reflected bits 1 is the highest bit. */
  function shiftOf(bytes: number): bigint {
    if (bytes === lastLength) return lastShift
    let power = 1n << BigInt(width - 9)
    let product = 1n << BigInt(width - 1)
    for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 1) product = multiply(power, product)
      power = multiply(power, power)
    }
    lastLength = bytes
    lastShift = product
    return product
  }

  return { size, update, combine: (crc1, crc2, length2) => multiply(shiftOf(length2), crc1) ^ crc2 }
}

/** `tables[256 · k + byte]` is the CRC register after the byte and k zero bytes. */
function fillTables(tables: BigUint64Array, polynomial: bigint): void {
  for (let byte = 0; byte < 256; byte++) {
    let register = BigInt(byte)
    for (let bit = 0; bit < 8; bit++) register = register & 1n ? (register >> 1n) ^ polynomial : register >> 1n
    tables[byte] = register
  }
  for (let index = 256; index < tables.length; index++) {
    const before = tables[index - 256] ?? 0n
    tables[index] = (tables[Number(before & 0xffn)] ?? 0n) ^ (before >> 8n)
  }
}
