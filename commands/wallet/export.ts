import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { writeNewFile } from '../../cli/input/files.ts'
import { passphraseFlags, readPassphrase } from '../../cli/input/secrets.ts'

export default defineCommand({
  summary: 'Export a wallet to a file that is encrypted with a passphrase (administrator)',
  description:
    'The file has connections, DIDs and their keys, credentials, webhooks, and the wallet’s published schemas, definitions and status lists. It does not have tenants and their API keys. The wallet keeps working here, and the file is a copy: never use a wallet at two agents. With --move the wallet is suspended here at the moment of the export, until `agent wallet resume`.',
  examples: [
    'agent wallet export <id> --output acme.wallet',
    'agent wallet export <id> --output acme.wallet --move --passphrase-file passphrase.txt',
  ],
  args: idOf('wallet'),
  flags: {
    output: Flags.string({ char: 'o', required: true, description: 'the new file (0600)' }),
    move: Flags.boolean({ description: 'suspend the wallet here, to use it at another agent' }),
    ...passphraseFlags,
  },
  async run({ args, flags, isJson, isQuiet, say, getFileClient, print, suggest }) {
    const { output, move } = flags
    const options = {
      json: isJson,
      quiet: isQuiet,
      warn: say,
      isNew: true,
    }
    let mayRest = false
    const ask = async () => {
      const passphrase = await readPassphrase(flags, options)
      mayRest = move
      return getFileClient().download('POST /wallets/{walletId}/export', {
        path: { walletId: args.id },
        body: { passphrase, move },
      })
    }
    const bytes = await writeNewFile('output', output, ask).catch((error: unknown) => {
      if (mayRest)
        say(
          `If the wallet is suspended now (agent wallet show ${args.id}), export it again, or resume it: agent wallet resume ${args.id}`,
        )
      throw error
    })
    print(output, [
      ['wallet', args.id],
      ['file', output],
      ['bytes', bytes],
      ['here', move ? 'suspended' : 'active'],
    ])
    if (!flags.quiet) say(`\nAt the other agent: agent wallet import ${output}`)
    suggest(move ? `agent wallet resume ${args.id}   # to use it here again` : undefined)
    return { walletId: args.id, file: output, bytes, moved: move }
  },
})
