/** The number that is signed for an attribute's value (https://hyperledger.github.io/anoncreds-spec, "Encoding Attribute Data"). */
import { createHash } from 'node:crypto'
import type { Presentation } from './proof-model.ts'

/** A text that is a 32-bit integer, signs and leading zeros included, as the integer; any other as SHA-256 of its UTF-8. Decimal. */
export function encodeValue(raw: string): string {
  if (/^[+-]?\d+$/.test(raw) && Number(raw) >= -2_147_483_648 && Number(raw) <= 2_147_483_647)
    return BigInt(Number(raw)).toString()
  return BigInt(`0x${createHash('sha256').update(raw, 'utf8').digest('hex')}`).toString()
}

/**
 * The reference of a revealed attribute whose text is not the one that was signed, if there is one: what is proved is the number alone, so
 * that without this a holder could show any text beside it.
 */
export function findForgedText({
  requested_proof: { revealed_attrs: revealed },
}: Presentation): string | undefined {
  return Object.entries(revealed).find(([, { raw, encoded }]) => encodeValue(raw) !== encoded)?.[0]
}
