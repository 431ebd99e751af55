/** What both servers of the shell bench answer. */
export const ANSWER = {
  success: true as const,
  data: { message: 'The quick brown fox jumps over the lazy dog.' },
};
