import { defineCommand } from '../../cli/define-command.ts'
import { stateOf } from '../../cli/format/event.ts'
import { safeJson } from '../../cli/format/text.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { walletFlag } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'Show an event with its data',
  examples: ['agent event show <id>'],
  args: idOf('event'),
  flags: { wallet: walletFlag },
  async run({ args, flags, call, print, isQuiet, log }) {
    const event = await call('GET /events/{id}', {
      path: { id: args.id },
      query: { walletId: flags.wallet },
    })
    print(event.id, [
      ['event', event.id],
      ['type', event.type],
      ['state', stateOf(event)],
      ['time', event.ts],
      ['thread', event.data.thid],
      ['wallet', event.walletId],
    ])
    if (!isQuiet) log(`\n${safeJson(event.data)}`)
    return event
  },
})
