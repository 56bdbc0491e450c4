/** What AnonCreds has beside the wallets: the engine, and what URLs stand for. */
import type { Config } from '../base/config.ts'
import type { Log } from '../base/log.ts'
import { across } from '../base/probe.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { JsonObject } from '../schemas/limits.ts'
import type { ResourceSources } from '../schemas/resource.ts'
import type { AgentDb, Tx } from '../storage/database.ts'
import { readOwnDefinition } from './definitions.ts'
import { createEngine, type Engine } from './engine.ts'
import { createGenerator, type Generator } from './generator.ts'
import { keepPrivateKey } from './issuer.ts'
import { createKeyMaker } from './key-maker.ts'
import type { CredentialDefinition } from './model.ts'
import { dereferenceAnonCredsSchema, dereferenceDefinition, vouchesForIssuer } from './resolve.ts'

export type AnonCredsEnvironment = {
  /** What calculates for AnonCreds. */
  readonly anoncreds: Engine
  /** The AnonCreds schema that a URL stands for, also a DID URL. @throws {Problem} 422 when it cannot be had, 503 when not for now. */
  getAnonCredsSchema(url: string): Promise<AnonCredsSchema>
  /** The definition of AnonCreds credentials that a URL stands for, also a DID URL. @throws {Problem} likewise. */
  getCredentialDefinition(url: string): Promise<CredentialDefinition>
  /** Whether the `issuerId` in what an AnonCreds URL leads to is its issuer's own. */
  vouchesForIssuer(url: string): boolean
}

/** `readSchema` gives what the URL of a schema stands for. The engine is to be closed. */
export function createAnonCreds(
  db: AgentDb,
  sources: ResourceSources,
  readSchema: (url: string) => Promise<{ schema: JsonObject }>,
): AnonCredsEnvironment {
  const definitionSources = {
    ...sources,
    ownDefinition: (guid: string, isRaw: boolean) => readOwnDefinition(db, guid, isRaw),
  }
  return {
    anoncreds: createEngine(),
    getAnonCredsSchema: (url) => dereferenceAnonCredsSchema(url, readSchema),
    getCredentialDefinition: (url) =>
      across('schema', { url }, () => dereferenceDefinition(url, definitionSources)),
    vouchesForIssuer: (url) => vouchesForIssuer(url, sources.baseUrls),
  }
}

/** What is used of a wallet that has a definition. */
type Owner = {
  seal(context: string, text: string): string
  transaction(write: (tx: Tx) => Promise<void>): Promise<void>
}

/** Makes the generator of keys for the registry's definitions; it does nothing until it is woken, and never where AnonCreds are disabled. It is to be closed. */
export function createDefinitions(
  config: Pick<Config, 'ENABLE_ANONCRED'>,
  db: AgentDb,
  log: Log,
  wallets: { use(id: string, use: (wallet: Owner) => Promise<void>): Promise<void> },
): Generator {
  const generator = createGenerator({
    db,
    log,
    keys: createKeyMaker(),
    keep: (walletId, guid, key) =>
      wallets.use(walletId, (wallet) => wallet.transaction((tx) => keepPrivateKey(tx, wallet, guid, key))),
  })
  return config.ENABLE_ANONCRED ? generator : { ...generator, wake: () => undefined }
}
