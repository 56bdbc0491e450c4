/** The languages of messages to the people of offers (BCP 47), the default first. */
export const locales = ['en', 'de'] as const
export type Locale = (typeof locales)[number]
