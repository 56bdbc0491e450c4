/** Two daemon processes with a shared ledger, and their tenants. */
import { Daemon, settingsIn, temporaryFolder } from './_daemon.ts'

type Use = <Part extends AsyncDisposable>(part: Part) => Part
type Ask = (key: string, body?: object) => Promise<any>

/**
 * Builds a value from parts. Disposal of the value disposes of the parts in reverse order; so does a failure.
 */
export async function assemble<Whole extends object>(
  make: (use: Use) => Promise<Whole>,
): Promise<Whole & AsyncDisposable> {
  const parts: AsyncDisposable[] = []
  const dispose = async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]()
  }
  try {
    return Object.assign(await make((part) => (parts.push(part), part)), { [Symbol.asyncDispose]: dispose })
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Two daemons with folders of their own; `env` adds to their variables. */
export async function startTwo(
  use: Use,
  adminKey: string,
  env: Record<string, string>,
): Promise<[Daemon, Daemon]> {
  const folder = use(await temporaryFolder())
  const start = async (name: string) =>
    use(await Daemon.start({ ...settingsIn(folder.path, name, adminKey), ...env }))
  return Promise.all([start('acme'), start('alice')])
}

/** Creates a tenant at a daemon. */
export async function newTenant(
  daemon: Daemon,
  adminKey: string,
  name: string,
): Promise<{ walletId: string; apiKey: string }> {
  const apiKey = `key-of-${name}-of-the-test`
  const wallet = await daemon.call('POST /wallets', { adminKey, body: { name } })
  const entity = await daemon.call('POST /iam/entities', {
    adminKey,
    body: { name, walletId: wallet.body.id },
  })
  await daemon.call('POST /iam/apikey-authentication', {
    adminKey,
    body: { entityId: entity.body.id, apiKey },
  })
  return { walletId: wallet.body.id, apiKey }
}

/** Creates a DID with one key. Returns its long form. */
export async function newDid(ask: Ask, purpose: string, curve = 'secp256k1'): Promise<string> {
  const documentTemplate = { publicKeys: [{ id: 'key-1', purpose, curve }], services: [] }
  return (await ask('POST /did-registrar/dids', { documentTemplate })).longFormDid
}

/** Publishes a new DID with a signing key. Returns its short form after the confirmation. */
export async function publishDid(ask: Ask, curve?: string): Promise<string> {
  const did = (await newDid(ask, 'assertionMethod', curve)).split(':').slice(0, 3).join(':')
  await ask(`POST /did-registrar/dids/${did}/publications`)
  return did
}

/** Publishes a schema of persons with all properties required. Returns its path. */
export async function publishSchema(
  ask: Ask,
  author: string,
  properties: Record<string, object>,
): Promise<string> {
  const { guid } = await ask('POST /schema-registry/schemas', {
    name: 'person',
    version: '1.0.0',
    type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
    author,
    tags: [],
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties,
      required: Object.keys(properties),
    },
  })
  return `schema-registry/schemas/${guid}`
}
