/** Checks a request by `org-iso-mdoc` as a wallet (ISO/IEC TS 18013-7 Annex C), which the platform passes on. */
import * as z from 'zod'
import { CoseError, readX5chain } from '../../../foundation/cose/index.ts'
import type { JsonObject } from '../../../foundation/json.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import { isSignedByReader, readAnnexCRequest } from '../../../credentials/formats/mdoc/annex-c.ts'
import type { ReaderSignature } from '../../../credentials/formats/mdoc/device-request.ts'
import { loadX509 } from '../../../wallet/issuer-certificates/certificates.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { audienceOf, isoMdoc } from '../../presentation/digital-credentials.ts'
import type { StoredRequest } from '../../presentation/openid4vp-request.ts'
import { type AuthenticatedClient, checkingChain, judgeCertificate, ofOrigin } from './client.ts'
import { describeQuery, parseQuery } from './query.ts'
import { invalid, type Note } from './request-object.ts'

const Data = z.object({
  deviceRequest: z.string().min(1).max(200_000),
  encryptionInfo: z.string().min(1).max(10_000),
})

/** @throws {OAuthError} */
export async function resolveIsoMdocRequest(
  wallet: Wallet,
  data: JsonObject,
  origin: string,
  note: Note,
): Promise<Omit<StoredRequest, 'steps'>> {
  const parsed = Data.safeParse(data)
  if (!parsed.success) throw invalid(`data: ${reasonOf(parsed.error)}.`)
  const { encryptionInfo } = parsed.data
  const { query, nonce, signatures } = within(() => readAnnexCRequest(parsed.data))
  const dcqlQuery = parseQuery(query)
  const session = { origin, encryptionInfo }
  const client = await authenticateReader(wallet, signatures, session, note)
  note('query', describeQuery(dcqlQuery))
  const responseHost = URL.canParse(origin) ? new URL(origin).host : origin
  return {
    clientId: audienceOf(origin),
    verifier: { ...client, responseHost },
    responseMode: 'dc_api.jwt',
    responseUri: origin,
    digital: { protocol: isoMdoc, origin },
    nonce,
    encryptionInfo,
    dcqlQuery,
  }
}

/** The reader is known if it has signed every document request. A signature that is wrong is refused. */
async function authenticateReader(
  wallet: Wallet,
  signatures: readonly (ReaderSignature | undefined)[],
  session: Parameters<typeof isSignedByReader>[2],
  note: Note,
): Promise<AuthenticatedClient> {
  const signed = signatures.filter((each) => each !== undefined)
  const chains = signed.map(({ sign1 }) => within(() => readX5chain(sign1)))
  const { checkX5c } = await loadX509()
  const readers = await checkingChain(() => chains.map((x5c) => checkX5c(x5c, new Date(), 'verifier')))
  if (!readers.every(({ publicKey }, index) => isSignedByReader(signed[index]!, publicKey, session)))
    throw invalid(
      'readerAuth was not made for this page and this request by the key of its first certificate.',
    )
  const [reader] = readers
  const isOne = readers.length === signatures.length && new Set(readers.map(({ hash }) => hash)).size === 1
  if (!reader || !isOne) {
    note('request', `Not signed as a whole, of a page of ${session.origin}.`)
    return ofOrigin
  }
  note('request', `Signed by the key of ${reader.subject}, for a page of ${session.origin}.`)
  const certificateSubject = reader.subject
  const judged = await judgeCertificate(wallet, chains[0])
  return { clientIdPrefix: 'origin', authentication: 'certificate', certificateSubject, ...judged }
}

/** @throws {OAuthError} for what cannot be read */
function within<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof VerificationError || error instanceof CoseError)
      throw invalid(`data: ${error.message}.`)
    throw error
  }
}
