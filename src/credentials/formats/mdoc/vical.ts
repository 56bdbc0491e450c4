/**
 * Verified issuer certificate authority lists (VICAL, ISO/IEC 18013-5 Annex C): the authorities that a
 * provider knows, each with the types of documents that it signs, in a COSE_Sign1. Nothing is verified here.
 */
import * as z from 'zod'
import { CborError, type CborValue, decodeCbor, Tagged } from '../../../foundation/cbor/index.ts'
import { CoseError, type CoseSign1, readSign1, readX5chain } from '../../../foundation/cose/index.ts'
import { firstFault } from '../../../foundation/faults.ts'

const maxCertificates = 300
const maxCertificateBytes = 16_384

export type Vical = {
  sign1: CoseSign1
  /** DER in base64, the signer's first. */
  x5c: string[]
  provider: string
  date: Date
  /** It rises with each list of a provider. */
  issueId?: number
  nextUpdate?: Date
  /** DER. A certificate may be there several times. */
  certificates: { der: Uint8Array; docTypes: string[] }[]
}

/** The list cannot be read. The message continues “The list …”. */
export class VicalError extends Error {
  override name = 'VicalError'
}

const dateTag = 0

/** A date, which some providers write without its tag. */
const Time = z.unknown().transform((value, context) => {
  const text = value instanceof Tagged && value.tag === dateTag ? value.value : value
  const date = typeof text === 'string' ? z.iso.datetime({ offset: true }).safeParse(text).data : undefined
  if (date !== undefined) return new Date(date)
  context.addIssue({ code: 'custom', message: 'is not a date' })
  return z.NEVER
})

const Certificate = z.object({
  certificate: z
    .instanceof(Uint8Array)
    .refine(({ length }) => length <= maxCertificateBytes, `has more than ${maxCertificateBytes} bytes`),
  docType: z.array(z.string().max(255)).min(1).max(100),
})

const Content = z.object({
  version: z.literal('1.0'),
  vicalProvider: z.string().min(1).max(200),
  date: Time,
  vicalIssueID: z.number().int().nonnegative().optional(),
  nextUpdate: Time.optional(),
  certificateInfos: z.array(Certificate).min(1).max(maxCertificates),
})

/** Reads a list. Its signature and its certificates are not verified. @throws {VicalError} */
export function readVical(bytes: Uint8Array): Vical {
  try {
    const sign1 = readSign1(decodeCbor(bytes), { isTagAllowed: true })
    const x5c = readX5chain(sign1)
    if (x5c === undefined) throw new VicalError('has no certificates of its signer (x5chain)')
    if (sign1.payload === null) throw new VicalError('has no payload')
    const { data, error } = Content.safeParse(toObject(decodeCbor(sign1.payload)))
    if (error) throw new VicalError(`is not one of ISO/IEC 18013-5: ${firstFault(error, 'payload')}`)
    return {
      sign1,
      x5c,
      provider: data.vicalProvider,
      date: data.date,
      ...(data.vicalIssueID !== undefined && { issueId: data.vicalIssueID }),
      ...(data.nextUpdate && { nextUpdate: data.nextUpdate }),
      certificates: data.certificateInfos.map(({ certificate: der, docType }) => ({
        der,
        docTypes: docType,
      })),
    }
  } catch (cause) {
    if (!(cause instanceof CborError) && !(cause instanceof CoseError)) throw cause
    throw new VicalError(`is not a VICAL: ${cause.message}`, { cause })
  }
}

/** Maps as objects, without members whose key is no text. */
function toObject(value: CborValue): unknown {
  if (Array.isArray(value)) return value.map(toObject)
  if (!(value instanceof Map)) return value
  return Object.fromEntries(
    [...value].flatMap(([key, member]) => (typeof key === 'string' ? [[key, toObject(member)]] : [])),
  )
}
