/** A protocol for tests: one side asks, the other answers or refuses. */
import { defineMachine } from '../../../src/definitions/machine.ts'

export const toyStates = defineMachine(
  {
    name: 'toy',
    topic: 'toy',
    event: 'ToyUpdated',
    resource: { route: 'GET /toys/{toyId}', id: 'toyId', state: 'state' },
  },
  {
    Requested: { words: 'waiting for your answer', next: 'agent toy answer {id}', commands: ['toy answer'] },
    Done: { words: 'done', ends: 0 },
    Refused: { words: 'refused', ends: 5 },
  },
  [
    ['Asker', null, 'ask', 'Requested', 'send request'],
    ['Asker', 'Requested', 'received answer', 'Done'],
    ['Answerer', null, 'received request', 'Requested'],
    ['Answerer', 'Requested', 'answer', 'Done', 'send answer'],
  ],
  [
    ['Asker', 'Requested', 'received problem-report', 'Refused'],
    ['Answerer', 'Requested', 'refuse', 'Refused', 'send problem-report'],
  ],
)
