import { createReadStream, statSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import type { Answer } from '../../cli/client/api.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { argument } from '../../cli/input/arguments.ts'
import { passphraseFlags, readPassphrase } from '../../cli/input/secrets.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export default defineCommand({
  summary: 'Import a wallet from another agent (administrator)',
  description:
    'The import is complete or has no effect. Connections keep working if this agent takes over the public addresses (REST_SERVICE_URL, DIDCOMM_SERVICE_URL) of the other agent. Replaces a wallet that is suspended here because it was exported with --move.',
  examples: [
    'agent wallet import acme.wallet',
    'agent wallet import acme.wallet --passphrase-file passphrase.txt --id 9b0dba12-7d9c-4f0d-9f3c-7d2d8a5a4f10',
  ],
  args: {
    file: argument('file that `agent wallet export` wrote'),
  },
  flags: {
    id: Flags.string({ description: 'new id (UUID); default: the exported one' }),
    name: Flags.string({ description: 'new name; default: the exported one' }),
    ...passphraseFlags,
  },
  async run({ args, flags, isJson, call, isQuiet, say, getFileClient, print, suggest }) {
    const length = lengthOf(args.file)
    // Check the key before a long upload.
    await call('GET /wallets', { query: { limit: 1 } })
    const passphrase = await readPassphrase(flags, {
      json: isJson,
      quiet: isQuiet,
      warn: say,
    })
    const { id, name } = flags
    const headers = { 'x-passphrase': Buffer.from(passphrase).toString('base64url') }
    const file = { content: createReadStream(args.file), length }
    const answer = await getFileClient().upload('POST /wallets/import', {
      query: { id, name },
      headers,
      ...file,
    })
    const wallet = answer as Answer<'POST /wallets/import'>
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    suggest(`agent tenant create <name> --wallet ${wallet.id}   # the keys of its tenants were not imported`)
    return wallet
  },
})

/** The length of a file in bytes. @throws {UsageError} when it does not exist. */
function lengthOf(path: string): number {
  try {
    const stat = statSync(path)
    if (stat.isFile()) return stat.size
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${systemReason(error)}.`)
  }
  throw new UsageError(`${path} is not a file.`)
}
