/** `agent wallet create` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readSeed, seedFlags } from '../../cli/input/secrets.ts'

export default defineCommand({
  summary: 'Create a wallet',
  description:
    'Needs the administrator’s key. `agent tenant create` makes a wallet and lets a tenant in, in one go. Wallets of the same seed, or words, make the same DIDs; the words make it as in the Identus libraries, without the “mnemonic” of BIP-39 before the passphrase.',
  examples: [
    'agent wallet create acme',
    'agent wallet create acme --seed-file seed.hex',
    'agent wallet create acme --mnemonic-file words.txt',
  ],
  args: {
    name: argument('what the wallet is called'),
  },
  flags: {
    ...seedFlags,
    id: Flags.string({ description: 'id of the wallet (UUID); made up when left out' }),
  },
  async run({ args, flags, say, call, print, suggest }) {
    const seed = await readSeed(flags, (text) => say(text))
    const wallet = await call('POST /wallets', { body: { name: args.name, seed, id: flags.id } })
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    suggest(
      `agent tenant create <name> --wallet ${wallet.id}`,
      seed === undefined
        ? undefined
        : 'agent did restore   # with that tenant’s key: finds the DIDs of the seed again',
    )
    return wallet
  },
})
