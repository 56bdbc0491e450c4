/** Documents of ISO/IEC 18013-5, mdoc (OpenID4VCI 1.0 §A.2; OpenID4VP 1.0 §B.2). */
import { toBase64url, fromBase64 } from '../../../foundation/bytes.ts'
import { type CborMap, decodeCbor } from '../../../foundation/cbor/index.ts'
import { Problem } from '../../../foundation/problem.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { findDifference } from '../difference.ts'
import type { Format } from '../format.ts'
import { type HeldToken, isSamePair, unbindable } from '../keys.ts'
import { decodeMdoc, toDecoded } from './decode.ts'
import { makeDeviceResponse } from './device-response.ts'
import { byNamespace, checkTerms, signMdoc } from './issue.ts'
import { readIssuerSigned } from './issuer-signed.ts'
import { partsOf } from './parts.ts'
import { readMdocPresentation } from './presentation.ts'
import { transcriptOf } from './session-transcript.ts'
import { encodeTranscript } from './transcript.ts'

export const mdoc: Format = {
  id: formatNames.MDOC.openid.id,

  decode: decodeMdoc,

  partsOf,

  checkTerms,

  statusFormFor: () => 'application/statuslist+cwt',

  bindsTo: () => true,

  sign: signMdoc,

  findDifference: ({ claims, types }, { claims: offered, type }) =>
    type && 'docType' in type
      ? findDifference(
          { claims: byNamespace(offered, type), schemas: [type.docType] },
          { claims, schemas: [...types] },
        )
      : undefined,

  checkType({ types, signed }, [offered]) {
    const [docType] = types
    if (docType !== offered) throw new TypeError(`its docType is ${docType}, and ${offered} was offered`)
    signed.checkDigests?.()
  },

  isBoundTo: ({ holderKey }, { privateJwk }) => isSamePair(holderKey, privateJwk),

  async findHolderKey(keys, { subject }, decoded) {
    const key = await keys.confirmed(subject, decoded)
    if (key) return key
    throw unbindable('The document is bound to a key that this wallet does not have.')
  },

  async present(keys, [held], { session, discloses }) {
    if (!session)
      throw new Problem('BadRequest', 'An mdoc is presented over OpenID4VP, whose session its device signs.')
    const { credential, subject } = held as HeldToken
    const value = decodeCbor(fromBase64(credential)) as CborMap
    const read = readIssuerSigned(value)
    const key = await mdoc.findHolderKey(keys, { credential, subject }, toDecoded(read))
    const transcript = encodeTranscript(transcriptOf(session))
    return toBase64url(
      makeDeviceResponse(read, value.get('issuerAuth'), { transcript, key: key!, discloses }),
    )
  },

  readPresentation: (text, { types }) => readMdocPresentation(text, types),
}
