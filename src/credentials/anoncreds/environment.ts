/** The part of AnonCreds that all wallets share: the engine, the readers of URLs, and the key generator. */
import type { Config } from '../../foundation/config/config.ts'
import type { Log } from '../../foundation/log.ts'
import { across } from '../../foundation/probe.ts'
import type { AnonCredsSchema } from '../schemas/anoncreds-schema.ts'
import type { JsonObject } from '../../foundation/json.ts'
import type { ResourceSources } from '../schemas/resource.ts'
import type { AgentDb, Tx } from '../../foundation/storage/database.ts'
import { readDefinition } from './definitions.ts'
import { createEngine, type Engine } from './engine.ts'
import { createGenerator, type Generator } from './generator.ts'
import { storePrivateKey } from './issuer.ts'
import { createKeyMaker } from './key-maker.ts'
import type { CredentialDefinition } from './model.ts'
import { dereferenceAnonCredsSchema, dereferenceDefinition, isIssuerAuthentic } from './resolve.ts'

export type AnonCredsEnvironment = {
  readonly anoncreds: Engine
  /**
   * Reads the AnonCreds schema at a URL or DID URL.
   *
   * @throws {Problem} 422, or 503 for a temporary failure.
   */
  getAnonCredsSchema(url: string): Promise<AnonCredsSchema>
  /**
   * Reads the credential definition at a URL or DID URL.
   *
   * @throws {Problem} 422, or 503 for a temporary failure.
   */
  getCredentialDefinition(url: string): Promise<CredentialDefinition>
  /** Whether the `issuerId` of the document at a URL is authentic. */
  isIssuerAuthentic(url: string): boolean
}

/** The caller closes the engine. */
export function createAnonCreds(
  db: AgentDb,
  sources: ResourceSources,
  readSchema: (url: string) => Promise<{ schema: JsonObject }>,
): AnonCredsEnvironment {
  const definitionSources = {
    ...sources,
    readDefinition: (guid: string, isDefinitionOnly: boolean) => readDefinition(db, guid, isDefinitionOnly),
  }
  return {
    anoncreds: createEngine(),
    getAnonCredsSchema: (url) => dereferenceAnonCredsSchema(url, readSchema),
    getCredentialDefinition: (url) =>
      across('schema', { url }, () => dereferenceDefinition(url, definitionSources)),
    isIssuerAuthentic: (url) => isIssuerAuthentic(url, sources.baseUrls),
  }
}

type IssuerWallet = {
  seal(context: string, text: string): string
  transaction(write: (tx: Tx) => Promise<void>): Promise<void>
}

/**
 * Creates the key generator, which starts on `wake` and never runs if AnonCreds is disabled. The caller
 * closes it.
 */
export function createDefinitions(
  config: Pick<Config, 'ENABLE_ANONCRED'>,
  db: AgentDb,
  log: Log,
  wallets: { use(id: string, use: (wallet: IssuerWallet) => Promise<void>): Promise<void> },
  owns: (walletId: string) => boolean,
): Generator {
  const generator = createGenerator({
    db,
    log,
    owns,
    keys: createKeyMaker(),
    storeKey: (walletId, guid, key) =>
      wallets.use(walletId, (wallet) => wallet.transaction((tx) => storePrivateKey(tx, wallet, guid, key))),
  })
  return config.ENABLE_ANONCRED ? generator : { ...generator, wake: () => undefined }
}
