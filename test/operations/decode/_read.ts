/** Decodes texts with the sources, without a network. */
import { readFileSync } from 'node:fs'
import type { Decoded } from '../../../src/operations/decode/decoded.ts'
import { decodeText } from '../../../src/operations/decode/index.ts'

export const fixture = (path: string) =>
  readFileSync(new URL(`../../../fixtures/${path}`, import.meta.url), 'utf8')

export const read = (text: string): Promise<Decoded> => decodeText(text, { isOnline: false })

/** The results of checks by their names: `{ signature: 'passed' }`. */
export const resultsOf = ({ checks }: Decoded) =>
  Object.fromEntries(checks.map(({ name, result }) => [name, result]))

/** The reason why a text cannot be decoded. */
export async function refusalOf(text: string): Promise<string> {
  return read(text).then(
    () => 'decoded',
    (error: Error) => `${error.name}: ${error.message}`,
  )
}
