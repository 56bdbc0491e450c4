import { defineCommand } from '../../cli/define-command.ts'
import { withContent } from '../../cli/format/wallet.ts'
import { idOf, yesFlag } from '../../cli/input/arguments.ts'
import { confirm } from '../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Delete a tenant with its keys and its wallet, for good',
  description:
    'Destroys the wallet’s key and removes its files. The audit log keeps its entries; published DIDs, schemas and credential definitions stay. Needs the administrator’s key. Asks for confirmation; in scripts use --yes.',
  examples: ['agent tenant delete <id>', 'agent tenant delete <id> --yes'],
  args: idOf('tenant'),
  flags: { yes: yesFlag },
  async run({ args: { id }, flags, call, print }) {
    const { name, walletId } = await call('GET /iam/entities/{id}', { path: { id } })
    if (!flags.yes)
      await confirm(
        `Delete the tenant ${name} and its wallet${await withContent(call, walletId)}? This cannot be undone.`,
      )
    await call('DELETE /wallets/{walletId}', { path: { walletId } })
    print(id, [
      ['deleted', id],
      ['wallet', walletId],
    ])
    return { id, walletId, deleted: true }
  },
})
