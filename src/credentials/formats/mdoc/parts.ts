/** The parts of a document. It is signed as a whole, so that all of them need the whole. */
import { once, type Parts } from '../parts.ts'
import { decodeMdoc } from './decode.ts'

/** Decodes nothing yet. */
export function partsOf(text: string): Parts {
  const decoded = once(() => decodeMdoc(text))
  return {
    payload: () => decoded().signed.payload,
    claims: () => {
      const { claims, ...rest } = decoded()
      return { ...rest, schemas: [], subjects: [claims] }
    },
    issuerDid: () => decoded().issuerDid,
    audience: () => undefined,
    checkAlgorithms: decoded,
    async checkSignatures(keys) {
      const { signed } = decoded()
      await signed.check(keys)
      signed.checkDigests?.()
    },
    checkCompliance: decoded,
    toCandidate: () => ({ algorithms: {}, claims: decoded().claims, measured: decoded().claims }),
  }
}
