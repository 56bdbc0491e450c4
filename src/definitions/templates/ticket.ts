/** Ticket. */
import type { TemplateFile } from './model.ts'

export default {
  title: 'Ticket',
  summary: 'Admission to an event',
  display: { backgroundColor: '#a51d2d', textColor: '#ffffff' },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Ticket',
    type: 'object',
    properties: {
      event: { type: 'string', title: 'Event' },
      venue: { type: 'string', title: 'Venue' },
      startsAt: { type: 'string', title: 'Begins', format: 'date-time' },
      seat: { type: 'string', title: 'Seat' },
      ticketId: { type: 'string', title: 'Ticket number' },
      admits: { type: 'integer', title: 'Number of persons', minimum: 1 },
    },
    required: ['event', 'startsAt', 'ticketId'],
    additionalProperties: false,
  },
  example: {
    event: 'Concert',
    venue: 'City Hall',
    startsAt: '2027-05-01T20:00:00Z',
    seat: '12 C',
    ticketId: 'T-3141',
    admits: 1,
  },
} as const satisfies TemplateFile
