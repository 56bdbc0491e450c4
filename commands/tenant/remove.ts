import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { withContent } from '../../cli/format/wallet.ts'
import { idOf, yesFlag } from '../../cli/input/arguments.ts'
import { askChoice, confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Remove a tenant and its keys, and keep or delete its wallet',
  description:
    '--with-wallet destroys the wallet’s key and removes its files; published DIDs, schemas and credential definitions stay. `agent wallet remove` deletes a wallet that was kept. The audit log keeps its entries. Needs the administrator’s key. Asks for confirmation; in scripts use --yes.',
  examples: ['agent tenant remove <id> --keep-wallet', 'agent tenant remove <id> --with-wallet --yes'],
  args: idOf('tenant'),
  flags: {
    'keep-wallet': Flags.boolean({
      exactlyOne: ['keep-wallet', 'with-wallet'],
      description: 'keep the wallet, for another tenant',
    }),
    'with-wallet': Flags.boolean({ description: 'delete the wallet too, for good' }),
    yes: yesFlag,
  },
  questions: {
    'keep-wallet': {
      unless: ['with-wallet'],
      ask: async ({ terminal }) => [
        await askChoice(
          'What becomes of its wallet?',
          [
            { value: '--keep-wallet', name: 'it stays, for another tenant' },
            { value: '--with-wallet', name: 'it is deleted, for good' },
          ],
          terminal,
        ),
      ],
    },
  },
  async run({ args: { id }, flags, call, print }) {
    const { name, walletId } = await call('GET /iam/entities/{id}', { path: { id } })
    const keepsWallet = flags['keep-wallet']
    const what = keepsWallet
      ? `Remove the tenant ${name}? Its keys stop working permanently, and its wallet stays.`
      : `Remove the tenant ${name} and its wallet${await withContent(call, walletId)}? This cannot be undone.`
    if (!flags.yes) await confirm(what)
    if (keepsWallet) await call('DELETE /iam/entities/{id}', { path: { id } })
    else await call('DELETE /wallets/{walletId}', { path: { walletId } })
    print(id, [
      ['removed', id],
      [keepsWallet ? 'kept wallet' : 'removed wallet', walletId],
    ])
    return { id, walletId, removed: true, walletRemoved: !keepsWallet }
  },
})
