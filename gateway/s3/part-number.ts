import { S3Error } from './errors.ts'

export const maxPartNumber = 10_000

/** A part number, 1 to 10,000. Throws InvalidArgument for anything else, and when it is missing. */
export function partNumber(value: string | undefined): number {
  const number = value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : 0
  if (number >= 1 && number <= maxPartNumber) return number
  throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
    details: { ArgumentName: 'partNumber', ArgumentValue: value ?? '' },
  })
}
