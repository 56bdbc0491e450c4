/** `agent wallet revoke` */
import { defineCommand } from '../../cli/define-command.ts'
import { argument, idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Take access to a wallet from a subject of the OpenID provider',
  description: 'The next request of the subject is refused. The wallet stays.',
  examples: ['agent wallet revoke <id> 248289761001'],
  args: { ...idOf('wallet'), subject: argument('subject: the `sub` of its tokens') },
  async run({ args, call, printFields }) {
    const { id: walletId, subject } = args
    await call('DELETE /wallets/{walletId}/uma-permissions', { path: { walletId }, query: { subject } })
    printFields([
      ['wallet', walletId],
      ['revoked', subject],
    ])
    return { walletId, subject, revoked: true }
  },
})
