import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'
import { readSeed, seedFlags } from '../../cli/input/secrets.ts'

export default defineCommand({
  summary: 'Create a wallet',
  description:
    'Needs the administrator’s key, or `agent login`: a person without a wallet creates one, and works in it. `agent tenant create` creates a wallet and its tenant together. Wallets with the same seed or mnemonic derive the same DID keys. The mnemonic is converted as in the Identus libraries: without the BIP-39 prefix “mnemonic” before the passphrase.',
  examples: [
    'agent wallet create acme',
    'agent wallet create acme --seed-file seed.hex',
    'agent wallet create acme --mnemonic-file words.txt',
  ],
  args: {
    name: argument('name of the wallet'),
  },
  flags: {
    ...seedFlags,
    id: Flags.string({ description: 'id of the wallet (UUID); default: random' }),
  },
  async run({ args, flags, say, call, getAccess, print, suggest }) {
    const seed = await readSeed(flags, (text) => say(text))
    const wallet = await call('POST /wallets', { body: { name: args.name, seed, id: flags.id } })
    print(wallet.id, [
      ['wallet', wallet.id],
      ['name', wallet.name],
      ['created', wallet.createdAt],
    ])
    const { adminKey, login } = getAccess()
    const isOwn = adminKey === undefined && login !== undefined
    const restore = `agent did restore   # ${isOwn ? '' : 'with that tenant’s key: '}finds the DIDs of the seed again`
    suggest(
      isOwn ? 'agent did create' : `agent tenant create <name> --wallet ${wallet.id}`,
      seed === undefined ? undefined : restore,
    )
    return wallet
  },
})
