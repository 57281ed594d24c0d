/** Whether a text can be sent there. */
export const isNumber = (value: string): boolean => /^\+[1-9]\d{8,14}$/.test(value)

/** Whether a text can have come from there: from a number, a short code or a sender's name. Anything else is not remembered. */
export const isContact = (value: string): boolean => /^\P{C}{1,64}$/u.test(value)
