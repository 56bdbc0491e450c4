/**
 * Challenges that name their verifier.
 *
 * A verifier could pass on the challenge of another one, and answer that one with the presentation that it
 * gets. A challenge of this agent contains a digest of the DID that asks, and the presentation signs the
 * challenge. So a holder that reads it refuses the challenge of another verifier. For a wallet that does not
 * read it, the challenge is a random text.
 */
import { createHash } from 'node:crypto'
import { randomId } from '../../foundation/id.ts'

const form = /^present\.([\w-]{43})\./

/**
 * Client ids of verifiers over OpenID4VP and the Digital Credentials API, which sign nothing over DIDComm
 * (OpenID4VP 1.0 §5.9.3).
 */
const clientId =
  /^(?:redirect_uri|decentralized_identifier|x509_san_dns|x509_hash|verifier_attestation|openid_federation|origin):/

/** A new challenge of the verifier with a DID. */
export function newChallenge(verifier: string): string {
  return `present.${digestOf(verifier)}.${randomId()}`
}

/** Checks that the verifier passes on no request of another one. @throws {TypeError} */
export function checkChallenge(
  { challenge, domain = '' }: { challenge: string; domain?: string | undefined },
  verifier: string,
): void {
  const [, named] = form.exec(challenge) ?? []
  if (named !== undefined && named !== digestOf(verifier))
    throw new TypeError('options.challenge: it is of another verifier than the sender')
  if (clientId.test(domain))
    throw new TypeError('options.domain: it is the client id of a request over OpenID4VP')
}

function digestOf(did: string): string {
  return createHash('sha256').update(did).digest('base64url')
}
