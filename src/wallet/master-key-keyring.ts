/**
 * The master key in the keyring of the operating system: the Secret Service of a Linux session, the Keychain
 * of macOS, or the Credential Manager of Windows. The next key of a rotation, and the keys that rotations
 * have replaced, are entries beside it.
 *
 * The name of the entry is an id in agent.db, so that the data folder can be moved. On Linux the kernel
 * keyring, the default of the package, is not used: it forgets everything at a reboot.
 */
import { toBase64url } from '../foundation/bytes.ts'
import { newId } from '../foundation/id.ts'
import { newSealKey } from '../foundation/seal.ts'
import { StartError } from '../foundation/start-error.ts'
import type { AgentDb } from '../foundation/storage/database.ts'
import { findKept, parseMasterKey } from './master-key-file.ts'
import type { KeptKey, MasterKeySource } from './master-key.ts'
import { createRequire } from 'node:module'
import type { AsyncEntry } from '@napi-rs/keyring'
import { reasonOf } from '../foundation/reason.ts'

const setting = 'keyring-entry'

/** The keyring as the source of the master key of a data folder. */
export async function keyringSource(db: AgentDb): Promise<MasterKeySource> {
  const row = await db.selectFrom('setting').select('value').where('name', '=', setting).executeTakeFirst()
  let id = row?.value

  /** The name of the entry. It is stored only after the keyring has answered. */
  async function provideId(): Promise<string> {
    if (id !== undefined) return id
    const made = newId()
    await readEntry(made)
    await db.insertInto('setting').values({ name: setting, value: made }).execute()
    return (id = made)
  }

  return {
    name: id === undefined ? 'the keyring' : nameEntry(id),
    readKept: async () => (id === undefined ? [] : (await readKept(id)).toReversed()),
    async read({ mayMake = false } = {}) {
      const key = id === undefined ? undefined : await readKey(id)
      if (key) return key
      if (!mayMake)
        throw new StartError(
          'The keyring has no master key for this data folder. Sign in as the user who first started the agent, or put a copy of the key into the file master.key in the data folder, from which it is moved into the keyring.',
          4,
        )
      const made = newSealKey()
      await writeEntry(await provideId(), toBase64url(made))
      return made
    },
    next: {
      read: async () => (id === undefined ? undefined : readKey(nextTo(id))),
      write: async (key) => writeEntry(nextTo(await provideId()), toBase64url(key)),
      keep: async (replaced) => keep(await provideId(), toBase64url(replaced)),
      async install() {
        const name = await provideId()
        const text = await readEntry(nextTo(name))
        // After a crash between the two steps, the next start repeats both.
        if (text !== undefined) await writeEntry(name, text)
        await removeEntry(nextTo(name))
      },
      discard: async () => (id === undefined ? undefined : removeEntry(nextTo(id))),
    },
  }
}

async function readKey(name: string): Promise<Uint8Array | undefined> {
  const text = await readEntry(name)
  return text === undefined ? undefined : parseMasterKey(text)
}

function nextTo(id: string): string {
  return `${id}.next`
}

function nameEntry(name: string): string {
  return `the keyring (${service}, ${name})`
}

/** The replaced keys, oldest first: the entries `<id>.1`, `<id>.2`, and so on. */
async function readKept(id: string): Promise<KeptKey[]> {
  const kept: KeptKey[] = []
  for (;;) {
    const name = `${id}.${kept.length + 1}`
    const key = await readKey(name)
    if (!key) return kept
    kept.push({ name: nameEntry(name), key })
  }
}

/** Keeps a key that is to be replaced, unless it is kept already. Returns the name of its entry, for texts. */
async function keep(id: string, text: string): Promise<string> {
  const kept = await readKept(id)
  const known = findKept(kept, ({ name, key }) => (toBase64url(key) === text ? name : undefined))
  if (known !== undefined) return known
  const name = `${id}.${kept.length + 1}`
  await writeEntry(name, text)
  return nameEntry(name)
}

/** The service name of all entries: `secret-tool lookup service identity-agent username <name>` prints one. */
const service = 'identity-agent'

/** The text of an entry, if there is one. @throws {StartError} when there is no keyring, or it is locked. */
function readEntry(name: string): Promise<string | undefined> {
  return callKeyring(async () => (await open(name).getPassword()) ?? undefined)
}

/** Writes or replaces an entry. @throws {StartError} also when the keyring did not store it. */
function writeEntry(name: string, text: string): Promise<void> {
  return callKeyring(async () => {
    const entry = open(name)
    await entry.setPassword(text)
    if ((await entry.getPassword()) !== text) throw new Error('it did not store the entry')
  })
}

/** Removes an entry, if there is one. @throws {StartError} as `readEntry`. */
function removeEntry(name: string): Promise<void> {
  return callKeyring(async () => void (await open(name).deleteCredential()))
}

function open(name: string): AsyncEntry {
  // Loaded on demand: the package is not available on every platform.
  const { AsyncEntry: Entry } = createRequire(import.meta.url)('@napi-rs/keyring') as {
    AsyncEntry: typeof AsyncEntry
  }
  return new Entry(service, name, { linux: { store: 'secret-service' } })
}

async function callKeyring<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
        ? 'the package @napi-rs/keyring is not installed for this platform'
        : reasonOf(error)
    throw new StartError(
      `The keyring of the operating system cannot be used: ${reason}. Start it or unlock it, or keep the master key in a file or a variable (AGENT_MASTER_KEY_STORE=file).`,
      4,
      { cause: error },
    )
  }
}
