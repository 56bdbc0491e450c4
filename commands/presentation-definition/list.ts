import { listCommand } from '../../cli/list-command.ts'

export default listCommand({
  summary: 'List the wallet’s presentation definitions',
  examples: ['agent presentation-definition list'],
  read: ({ call, paging }) =>
    call('GET /presentation-exchange/presentation-definitions', {
      query: paging,
    }),
  id: ({ id }) => id,
  columns: [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'name', of: ({ name }) => name ?? undefined, cut: 'end' },
    {
      head: 'asks for',
      of: ({ input_descriptors: asked }) => asked?.map(({ id }) => id).join(' '),
      cut: 'end',
    },
  ],
  empty: 'There are no presentation definitions. `agent presentation-definition create` makes one.',
})
