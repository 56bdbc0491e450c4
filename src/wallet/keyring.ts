/**
 * The keyring of the operating system: the Secret Service of a Linux session, the Keychain of macOS, the Credential Manager of Windows.
 *
 * Of Linux the Secret Service and nothing else: the kernel's keyring, which the package would take in its place, forgets everything when the
 * machine is switched off.
 */
import { createRequire } from 'node:module'
import type { AsyncEntry } from '@napi-rs/keyring'
import { reasonOf } from '../base/reason.ts'
import { StartError } from '../base/start-error.ts'

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
