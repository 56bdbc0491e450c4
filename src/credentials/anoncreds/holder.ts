/** The holder's part of AnonCreds: the link secret, the credentials that fit a request, and proofs. */
import { attributeKey, type AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { Engine } from './engine.ts'
import type { Credential, CredentialDefinition } from './model.ts'
import type { Presentation, PresentationRequest } from './presentation.ts'
import { findUnmet, type Candidate } from './restrictions.ts'

type LinkSecretWallet = {
  readonly id: string
  readonly db: Db
  readonly env: { readonly anoncreds: Engine }
  seal(context: string, text: string): string
  unseal(context: string, sealed: string): string
  transaction<T>(write: (tx: Tx) => Promise<T>): Promise<T>
}

const linkSecretSetting = 'link-secret'

/**
 * The link secret of a wallet, decimal: the number that is blindly signed in every AnonCreds credential and
 * binds the credential to the wallet. It is created on first use, never changes, and is sealed like the seed.
 */
export async function getLinkSecret(wallet: LinkSecretWallet): Promise<string> {
  return (await findLinkSecret(wallet)) ?? createLinkSecret(wallet)
}

async function findLinkSecret(wallet: LinkSecretWallet): Promise<string | undefined> {
  const row = await wallet.db
    .selectFrom('setting')
    .select('value')
    .where('name', '=', linkSecretSetting)
    .executeTakeFirst()
  return row && wallet.unseal(sealContext(wallet.id), row.value)
}

async function createLinkSecret(wallet: LinkSecretWallet): Promise<string> {
  const value = wallet.seal(sealContext(wallet.id), await wallet.env.anoncreds.createLinkSecret())
  // If two are created at once, the first one stays.
  await wallet.transaction((tx) =>
    tx
      .insertInto('setting')
      .values({ name: linkSecretSetting, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  )
  return (await findLinkSecret(wallet))!
}

function sealContext(walletId: string): string {
  return `${linkSecretSetting}:${walletId}`
}

/** A credential of the wallet with the parts of its definition and schema that restrictions refer to. */
export type HeldCredential = Pick<Candidate, 'issuerId' | 'schema'> & { credential: Credential }

/** By the references of a request: the reason why the credential cannot answer, or undefined if it can. */
export type Fit = {
  attributes: Record<string, string | undefined>
  predicates: Record<string, string | undefined>
}

/** Compares a credential with every item of a request. Whether issuers are authentic is left to the verifier. */
export function findFit(request: PresentationRequest, { credential, issuerId, schema }: HeldCredential): Fit {
  const values = new Map(
    Object.entries(credential.values).map(([name, { raw }]) => [attributeKey(name), raw]),
  )
  const requested = Object.values(request.requested_attributes).map(({ name }) => attributeKey(name))
  const candidate: Candidate = {
    schemaId: credential.schema_id,
    credDefId: credential.cred_def_id,
    issuerId,
    schema,
    attributes: new Set(values.keys()),
    isAuthentic: { schema: true, definition: true },
    revealed: new Map([...values].filter(([key]) => requested.includes(key))),
  }
  const findReasons = <Each extends { name: string; restrictions: Record<string, string>[] }>(
    all: Record<string, Each>,
    check: (each: Each, value: string) => string | undefined,
  ) =>
    Object.fromEntries(
      Object.entries(all).map(([reference, each]) => {
        const value = values.get(attributeKey(each.name))
        if (value === undefined) return [reference, `it has no attribute ${each.name}`]
        return [reference, findUnmet(each.restrictions, candidate) ?? check(each, value)]
      }),
    )
  return {
    attributes: findReasons(request.requested_attributes, () => undefined),
    predicates: findReasons(request.requested_predicates, ({ name, p_type, p_value }, value) => {
      const number = toInt32(value)
      if (number === undefined) return `its attribute ${name} is not a whole number`
      return compare[p_type](number, p_value) ? undefined : `its ${name} is not ${p_type} ${p_value}`
    }),
  }
}

/** The first reason why a credential cannot answer a whole request. */
export function findMisfit({ attributes, predicates }: Fit): string | undefined {
  const misfit = [...Object.entries(attributes), ...Object.entries(predicates)].find(
    ([, reason]) => reason !== undefined,
  )
  return misfit && `cannot answer ${misfit[0]}: ${misfit[1]}`
}

const compare = {
  '>=': (one: number, other: number) => one >= other,
  '>': (one: number, other: number) => one > other,
  '<=': (one: number, other: number) => one <= other,
  '<': (one: number, other: number) => one < other,
}

/** Predicates compare 32-bit integers only. */
function toInt32(text: string): number | undefined {
  const number = Number(text)
  return /^[+-]?\d+$/.test(text) && number === (number | 0) ? number : undefined
}

export type ProofInput = {
  request: PresentationRequest
  credential: Credential
  linkSecret: string
  schema: AnonCredsSchema
  definition: CredentialDefinition
  /** References of attributes whose presence is proved without revealing the value. */
  unrevealed: readonly string[]
}

/**
 * Creates the proof that answers a request, from one credential (the library cannot combine several).
 *
 * The library reveals every attribute in its request. Unrevealed attributes are therefore removed from the
 * request and added to the result. The proof still covers them, because it covers all attributes of the
 * credential.
 *
 * @throws {AnonCredsError} when the credential does not satisfy the request.
 */
export async function createProof(
  engine: Pick<Engine, 'createPresentation'>,
  { request, credential, linkSecret, schema, definition, unrevealed }: ProofInput,
): Promise<Presentation> {
  const revealed = Object.entries(request.requested_attributes).filter(
    ([reference]) => !unrevealed.includes(reference),
  )
  const presentation = await engine.createPresentation({
    request: { ...request, requested_attributes: Object.fromEntries(revealed) },
    credential,
    linkSecret,
    schemas: { [credential.schema_id]: schema },
    definitions: { [credential.cred_def_id]: definition },
  })
  const unrevealed_attrs = Object.fromEntries(
    unrevealed.map((reference) => [reference, { sub_proof_index: 0 }]),
  )
  return {
    ...presentation,
    requested_proof: { ...presentation.requested_proof, unrevealed_attrs },
  }
}
