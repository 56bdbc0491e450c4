/**
 * What an offer in one step takes of a wallet: the issuer, the credential and the DID that are named, or else
 * the only ones. None: the caller makes them. Several: a problem that names them.
 */
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import { canonicalDid } from '../../did/document.ts'
import { listSigners } from '../../wallet/did-registrar/signers.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { type ConfigurationRow, configurationsOf, requireConfiguration } from './configurations.ts'
import { typeOf } from './credential-types.ts'
import { credentialDisplayOf, nameOf } from './display.ts'
import { getOwnIssuer, type IssuerRow } from './issuers.ts'

/** So many are named in a problem. */
const named = 20

/** @throws {Problem} 404 for an unknown issuer, 400 for several */
export async function chooseIssuer(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  id: string | undefined,
): Promise<IssuerRow | undefined> {
  if (id !== undefined) return getOwnIssuer(db, wallet.id, id)
  const own = db.selectFrom('credential_issuer').selectAll().where('wallet_id', '=', wallet.id)
  const issuers = await own.orderBy('sequence').execute()
  if (issuers.length > 1)
    throw several(
      'issuerId',
      'issuers',
      issuers.map((row) => withName(row.id, nameOf(row))),
    )
  return issuers[0]
}

export type Wanted = { credentialConfigurationId?: string | undefined; type?: string | undefined }

/**
 * The configuration with an id, or of a type: its id, its name or its `vct`.
 *
 * @throws {Problem} 404 for an unknown id, 400 for several
 */
export async function chooseConfiguration(
  { db, wallet }: { db: AgentDb; wallet: Wallet },
  { id: issuerId }: IssuerRow,
  { credentialConfigurationId: id, type }: Wanted,
): Promise<ConfigurationRow | undefined> {
  if (id !== undefined) return requireConfiguration(db, issuerId, id)
  const all = await configurationsOf(db, issuerId)
  const base = wallet.env.urls.rest
  const fitting = type === undefined ? all : all.filter((row) => isOfType(base, row, type))
  if (fitting.length > 1)
    throw several(
      'credentialConfigurationId',
      type === undefined ? 'credentials' : `credentials of the type ${type.slice(0, 100)}`,
      fitting.map((row) => withName(row.id, nameOf(row))),
    )
  return fitting[0]
}

/** Whether people or programs call a configuration so: by its id, its name or its type. */
export function isOfType(base: string, row: ConfigurationRow, type: string): boolean {
  const names = [row.id, ...(credentialDisplayOf(row) ?? []).map(({ name }) => name)].map((name) =>
    name.toLowerCase(),
  )
  return names.includes(type.trim().toLowerCase()) || typeOf(base, row) === type
}

/**
 * The DID that signs: the named one, that of the configuration, or the only one that can.
 *
 * @throws {Problem} 400 for several
 */
export async function chooseSigner(
  { db }: Pick<Wallet, 'db'>,
  member: 'issuingDID' | 'did',
  preferred: readonly (string | null | undefined)[],
): Promise<string | undefined> {
  const known = preferred.find((did) => did !== undefined && did !== null)
  if (known !== undefined && known !== null) return known
  const signers = await listSigners(db, member === 'did' ? 'authentication' : 'assertionMethod')
  if (signers.length > 1) throw several(member, 'published DIDs that can sign', signers.map(canonicalDid))
  return signers[0]
}

function several(member: string, what: string, ids: readonly string[]): Problem {
  const rest = ids.length > named ? `, and ${ids.length - named} more` : ''
  return new Problem(
    'BadRequest',
    `${member}: the wallet has several ${what}. Name one: ${ids.slice(0, named).join(', ')}${rest}.`,
  )
}

const withName = (id: string, name: string | undefined) =>
  name === undefined || name === id ? id : `${id} (${name})`
