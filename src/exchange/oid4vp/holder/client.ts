/** Authenticates the verifier of a request by the prefix of its client id (OpenID4VP 1.0 §5.9.3). */
import { isTemporary, Problem } from '../../../foundation/problem.ts'
import { isSignedBy, type Jws } from '../../../credentials/codecs/jws.ts'
import { type DidDocument, Did, didOf, keysHinted, type VerificationKey } from '../../../did/document.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import { loadX509 } from '../../../wallet/issuer-certificates/certificates.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import type { RequestingVerifier } from '../../presentation/openid4vp-request.ts'
import { isTrustedDid } from '../../../wallet/trust-anchors/anchors.ts'
import { verifyTrustedChain } from '../../../wallet/trust-anchors/verify-chain.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { type ClientIdPrefix, clientIdPrefixes } from '../client.ts'
import { invalid, type Note } from './request-object.ts'

/** The result: how the client id was proved, and the hosts that may get its responses. */
export type AuthenticatedClient = Pick<
  RequestingVerifier,
  'clientIdPrefix' | 'authentication' | 'certificateSubject' | 'isTrusted' | 'trustReason'
> & {
  /** Undefined: any host. */
  responseHost?: string | undefined
  /** The only possible `response_uri`, of `redirect_uri`. */
  responseUri?: string | undefined
}

/** @throws {OAuthError}; {Problem} `error:ServiceUnavailable` if a DID cannot be resolved for now */
export async function authenticateClient(
  wallet: Wallet,
  clientId: string,
  jws: Jws | undefined,
  note: Note,
): Promise<AuthenticatedClient> {
  const [prefix, id] = splitClientId(clientId)
  if (prefix === 'redirect_uri') {
    if (jws) throw invalid('Requests with the prefix redirect_uri cannot be signed: no key is known for it.')
    note('client id', 'redirect_uri: not authenticated')
    return {
      clientIdPrefix: prefix,
      authentication: 'none',
      responseUri: id,
      isTrusted: false,
      trustReason: 'the verifier is not authenticated: anyone can make such a request',
    }
  }
  if (!jws) throw invalid(`The request is not signed, and the prefix ${prefix} requires a signature.`)
  if (prefix === 'decentralized_identifier') return authenticateDid(wallet, id, jws, note)
  return authenticateCertificate(wallet, { prefix, id }, jws, note)
}

function splitClientId(clientId: string): [prefix: ClientIdPrefix, id: string] {
  const end = clientId.indexOf(':')
  if (end < 0)
    throw invalid(
      `The client id has no prefix, and this wallet knows no pre-registered verifiers. It accepts ${clientIdPrefixes.join(', ')}.`,
    )
  const prefix = clientIdPrefixes.find((each) => each === clientId.slice(0, end))
  if (prefix) return [prefix, clientId.slice(end + 1)]
  throw invalid(
    `The client id prefix ${clientId.slice(0, Math.min(end, 50))} is not supported. This wallet accepts ${clientIdPrefixes.join(', ')}.`,
  )
}

/**
 * Finds the key of the DID that signed the request, among its authentication and assertionMethod keys. `kid`
 * selects one of them, or is a hint (`keysHinted`).
 */
async function authenticateDid(
  wallet: Wallet,
  did: string,
  jws: Jws,
  note: Note,
): Promise<AuthenticatedClient> {
  const { kid } = jws.header
  if (!Did.safeParse(did).success) throw invalid('The client id has no DID after decentralized_identifier.')
  if (kid === undefined) throw invalid('The Request Object has no kid, which must name a key of the DID.')
  if (kid.startsWith('did:') && didOf(kid) !== did)
    throw invalid('The kid of the Request Object is of another DID.')
  const document = await resolve(wallet, did)
  const keys = (['authentication', 'assertionMethod'] as const).flatMap((purpose): VerificationKey[] =>
    keysHinted(document, purpose, kid),
  )
  if (keys.length === 0) throw invalid('The kid of the Request Object names no signing key of the DID.')
  const key = keys.find(({ publicKeyJwk }) => isSignedBy(jws, publicKeyJwk))
  if (!key) throw notSigned()
  note('client id', `decentralized_identifier: signed with ${jws.header.alg} by ${key.id}`)
  return {
    clientIdPrefix: 'decentralized_identifier',
    authentication: 'did',
    ...((await isTrustedDid(wallet.db, did))
      ? { isTrusted: true, trustReason: 'a trust anchor of this wallet names the DID' }
      : {
          isTrusted: false,
          trustReason: 'the verifier has this DID, and no trust anchor of this wallet names it',
        }),
  }
}

async function resolve(wallet: Wallet, did: string): Promise<DidDocument> {
  try {
    return await wallet.env.resolver.document(did)
  } catch (cause) {
    if (!(cause instanceof Problem) || isTemporary(cause)) throw cause
    throw new OAuthError('invalid_request', `The DID of the client id cannot be resolved: ${cause.message}`, {
      cause,
    })
  }
}

async function authenticateCertificate(
  wallet: Wallet,
  { prefix, id }: { prefix: 'x509_san_dns' | 'x509_hash'; id: string },
  jws: Jws,
  note: Note,
): Promise<AuthenticatedClient> {
  const { checkX5c } = await loadX509()
  return checkingChain(async () => {
    const certificate = checkX5c(jws.header.x5c, new Date(), 'verifier')
    const isNamed =
      prefix === 'x509_hash'
        ? certificate.hash === id
        : certificate.names.some(
            ({ type, value }) => type === 'dns' && value.toLowerCase() === id.toLowerCase(),
          )
    if (!isNamed)
      throw invalid(
        prefix === 'x509_hash'
          ? 'The client id is not the hash of the first certificate in x5c.'
          : 'The first certificate in x5c has no DNS name like the client id.',
      )
    if (!isSignedBy(jws, certificate.publicKey)) throw notSigned()
    note('client id', `${prefix}: signed with ${jws.header.alg} by the key of ${certificate.subject}`)
    return {
      clientIdPrefix: prefix,
      authentication: 'certificate',
      certificateSubject: certificate.subject,
      responseHost: prefix === 'x509_san_dns' ? id : undefined,
      ...(await judgeCertificate(wallet, jws.header.x5c)),
    }
  })
}

/** A page that nothing but its origin identifies. */
export const ofOrigin: AuthenticatedClient = {
  clientIdPrefix: 'origin',
  authentication: 'origin',
  isTrusted: false,
  trustReason: 'the browser names the origin of the page, and nothing else says who is behind it',
}

/** Checks certificates of a request. @throws {OAuthError} for those that are refused */
export async function checkingChain<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  const { ChainError } = await loadX509()
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new OAuthError('invalid_request', `The certificates of the request: ${error.message}`, {
      cause: error,
    })
  }
}

/** Whether the chain of an authenticated verifier ends at a trust anchor of the wallet. */
export async function judgeCertificate(
  { db }: Wallet,
  x5c: unknown,
): Promise<Pick<AuthenticatedClient, 'isTrusted' | 'trustReason'>> {
  try {
    await verifyTrustedChain(db, x5c)
    return { isTrusted: true, trustReason: 'the certificate chain ends at a trust anchor of this wallet' }
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    return {
      isTrusted: false,
      trustReason: 'the certificate is not trusted by an anchor of this wallet: anyone can make such a one',
    }
  }
}

function notSigned(): OAuthError {
  return invalid('The signature of the Request Object is not of the key of its client id.')
}
