/**
 * The master key in the keyring of the operating system, and the next one in an entry beside it while the key is replaced.
 *
 * The entry is called by an id that the data folder keeps, so that the folder can be moved.
 */
import { toBase64url } from '../base/bytes.ts'
import { newId } from '../base/id.ts'
import { newSealKey } from '../base/seal.ts'
import { StartError } from '../base/start-error.ts'
import type { AgentDb } from '../storage/database.ts'
import { parseMasterKey } from './master-key-file.ts'
import type { MasterKeySource } from './master-key.ts'
import { createRequire } from 'node:module'
import type { AsyncEntry } from '@napi-rs/keyring'
import { reasonOf } from '../base/reason.ts'

const setting = 'keyring-entry'

/** The keyring as the place of a folder's master key. */
export async function keyringSource(db: AgentDb): Promise<MasterKeySource> {
  const row = await db.selectFrom('setting').select('value').where('name', '=', setting).executeTakeFirst()
  let id = row?.value

  /** The entry's name; before it is written down, the keyring must have answered. */
  async function provideId(): Promise<string> {
    if (id !== undefined) return id
    const made = newId()
    await readEntry(made)
    await db.insertInto('setting').values({ name: setting, value: made }).execute()
    return (id = made)
  }

  return {
    name: id === undefined ? 'the keyring' : `the keyring (identity-agent, ${id})`,
    async read({ mayMake = false } = {}) {
      const key = id === undefined ? undefined : await readKey(id)
      if (key) return key
      if (!mayMake)
        throw new StartError(
          'The keyring has no master key of this data folder. Sign in as the user who started the agent the first time, or put a copy of the key into the file master.key in the data folder: it is moved into the keyring.',
          4,
        )
      const made = newSealKey()
      await writeEntry(await provideId(), toBase64url(made))
      return made
    },
    next: {
      read: async () => (id === undefined ? undefined : readKey(nextTo(id))),
      write: async (key) => writeEntry(nextTo(await provideId()), toBase64url(key)),
      async take() {
        const name = await provideId()
        const text = await readEntry(nextTo(name))
        // A start that was killed behind the first of these two steps does them again.
        if (text !== undefined) await writeEntry(name, text)
        await removeEntry(nextTo(name))
      },
      drop: async () => (id === undefined ? undefined : removeEntry(nextTo(id))),
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

/** What all entries of this program are filed under; `secret-tool lookup service identity-agent username <name>` shows one. */
const service = 'identity-agent'

/** The text of an entry; nothing when there is no such entry. @throws {StartError} when there is no keyring, or it is locked. */
export function readEntry(name: string): Promise<string | undefined> {
  return ask(async () => (await open(name).getPassword()) ?? undefined)
}

/** Writes an entry, in the place of one that is there. @throws {StartError} also when the keyring did not keep it. */
export function writeEntry(name: string, text: string): Promise<void> {
  return ask(async () => {
    const entry = open(name)
    await entry.setPassword(text)
    if ((await entry.getPassword()) !== text) throw new Error('it did not keep what was written')
  })
}

/** Removes an entry, if there is one. @throws {StartError} as `readEntry`. */
export function removeEntry(name: string): Promise<void> {
  return ask(async () => void (await open(name).deleteCredential()))
}

function open(name: string): AsyncEntry {
  // Loaded by whoever asks for it, since it is not there on every platform.
  const { AsyncEntry: Entry } = createRequire(import.meta.url)('@napi-rs/keyring') as {
    AsyncEntry: typeof AsyncEntry
  }
  return new Entry(service, name, { linux: { store: 'secret-service' } })
}

async function ask<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
        ? 'the package @napi-rs/keyring is not installed for this platform'
        : reasonOf(error)
    throw new StartError(
      `The keyring of the operating system cannot be used: ${reason}. Start it, or unlock it; without one, the master key is in a file or a variable (AGENT_MASTER_KEY_STORE=file).`,
      4,
      { cause: error },
    )
  }
}
