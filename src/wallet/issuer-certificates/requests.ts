/** Certificate signing requests of issuer certificates, and the chains that are imported for them. */
import { generateKey } from '../../foundation/crypto/keys.ts'
import { Problem } from '../../foundation/problem.ts'
import type { Wallet } from '../wallet.ts'
import {
  changeCertificate,
  earliestEnd,
  getRow,
  insertCertificate,
  loadX509,
  profileOf,
  toAlternativeNames,
  toSubject,
} from './certificates.ts'
import { type CertificateInput, CertificateKey, type IssuerCertificate } from './model.ts'

/** Creates a key with a certificate signing request. */
export async function requestCertificate(
  wallet: Wallet,
  input: CertificateInput,
): Promise<IssuerCertificate> {
  const { createMdocRequest, createRequest } = await loadX509()
  const { profile, curve = 'P-256' } = input
  const [key, subject, names] = [generateKey(curve), toSubject(input), toAlternativeNames(input.names)]
  const made = await (profile
    ? createMdocRequest(key, subject, names, profile)
    : createRequest(key, subject, names))
  return insertCertificate(wallet, key, { names: input.names ?? [], profile, ...made, isDevelopment: false })
}

/**
 * Imports the chain of a key, and replaces the chain that it has.
 *
 * @throws {Problem} `NotFound`; `Conflict` for a development certificate, whose key has no request;
 * `UnprocessableEntity` when the chain is not acceptable: the detail names the certificate and what it lacks
 */
export async function importChain(
  wallet: Wallet,
  id: string,
  pem: string,
  at = new Date(),
): Promise<IssuerCertificate> {
  const { ChainError, readChain, toNames, toPemText, withoutRoot } = await loadX509()
  const row = await getRow(wallet.db, id)
  if (row.is_development === 1)
    throw new Problem(
      'Conflict',
      `The issuer certificate ${id} is for development and keeps its chain: create a request, and import the chain for that.`,
    )
  try {
    const key = CertificateKey.parse(JSON.parse(row.public_key))
    const { chain, warnings } = readChain(pem, key, at, profileOf(row))
    const changed = {
      chain: chain.map(toPemText).join('\n'),
      subject: chain[0]!.subject,
      names: JSON.stringify(toNames(chain[0]!)),
      not_after: earliestEnd(withoutRoot(chain)),
      updated_at: at.toISOString(),
    }
    const certificate = await changeCertificate(wallet, row, changed)
    return warnings.length > 0 ? { ...certificate, warnings } : certificate
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new Problem('UnprocessableEntity', `chain: ${error.message}`, { cause: error })
  }
}
