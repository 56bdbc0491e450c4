import { defineCommand } from '../../cli/define-command.ts'
import { argument, idOf } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Give a subject of the OpenID provider access to a wallet',
  description:
    'The subject is the `sub` of its tokens. The administrator may do this for every wallet, a tenant for its own.',
  examples: ['agent wallet grant <id> 248289761001'],
  args: { ...idOf('wallet'), subject: argument('subject: the `sub` of its tokens') },
  async run({ args, call, printFields }) {
    const { id: walletId, subject } = args
    await call('POST /wallets/{walletId}/uma-permissions', { path: { walletId }, body: { subject } })
    printFields([
      ['wallet', walletId],
      ['granted', subject],
    ])
    return { walletId, subject, granted: true }
  },
})
