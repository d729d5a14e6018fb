// Functions of the C library that give back more than one value through pointers: of mathematics,
// of random generators whose state has no lock. What each touches: library_call.h.
#include <math.h>
#include <stdlib.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

#define MC_OF_EACH_FRACTION(row, name) \
  row(float, name##f) row(double, name) row(long double, name##l)

#define MC_FREXP(type, name) \
  MC_TOUCHES(type, name, (type x, int* exponent), (x, exponent), Out(exponent))
MC_OF_EACH_FRACTION(MC_FREXP, frexp)
#define MC_MODF(type, name) MC_TOUCHES(type, name, (type x, type* whole), (x, whole), Out(whole))
MC_OF_EACH_FRACTION(MC_MODF, modf)
#define MC_REMQUO(type, name) \
  MC_TOUCHES(type, name, (type x, type y, int* quotient), (x, y, quotient), Out(quotient))
MC_OF_EACH_FRACTION(MC_REMQUO, remquo)
#define MC_SINCOS(type, name) \
  MC_TOUCHES(void, name, (type x, type* sine, type* cosine), (x, sine, cosine), Out(sine), \
             Out(cosine))
MC_OF_EACH_FRACTION(MC_SINCOS, sincos)

// Digits of a number, in a place that is kept.
#define MC_DIGITS(name, type) \
  MC_TOUCHES(char*, name, (type x, int count, int* point, int* sign), (x, count, point, sign), \
             OutText(result), Out(point), Out(sign))
MC_DIGITS(ecvt, double)
MC_DIGITS(fcvt, double)
MC_DIGITS(qecvt, long double)
MC_DIGITS(qfcvt, long double)
#define MC_DIGITS_R(name, type) \
  MC_TOUCHES(int, name, (type x, int count, int* point, int* sign, char* to, size_t size), \
             (x, count, point, sign, to, size), result == 0 ? OutText(to) : Out(to, 0), Out(point), \
             Out(sign))
MC_DIGITS_R(ecvt_r, double)
MC_DIGITS_R(fcvt_r, double)
MC_DIGITS_R(qecvt_r, long double)
MC_DIGITS_R(qfcvt_r, long double)
MC_TOUCHES(char*, gcvt, (double x, int count, char* to), (x, count, to), OutText(to))
MC_TOUCHES(char*, qgcvt, (long double x, int count, char* to), (x, count, to), OutText(to))

// The sign of the result goes to a variable that all share, or to one that is given.
#define MC_LGAMMA(type, name) MC_TOUCHES(type, name, (type x), (x), Out(&signgam))
MC_OF_EACH_FRACTION(MC_LGAMMA, lgamma)
MC_OF_EACH_FRACTION(MC_LGAMMA, gamma)
#define MC_LGAMMA_R(type, name) MC_TOUCHES(type, name, (type x, int* sign), (x, sign), Out(sign))
MC_LGAMMA_R(float, lgammaf_r)
MC_LGAMMA_R(double, lgamma_r)
MC_LGAMMA_R(long double, lgammal_r)

// ---- Generators

MC_TOUCHES(int, random_r, (random_data* state, int32_t* to), (state, to), InOut(state), Out(to))
MC_TOUCHES(int, srandom_r, (unsigned seed, random_data* state), (seed, state), InOut(state))
MC_TOUCHES(int, initstate_r, (unsigned seed, char* table, size_t size, random_data* state),
           (seed, table, size, state), Out(table, size), InOut(state))
MC_TOUCHES(int, setstate_r, (char* table, random_data* state), (table, state), In(table, 4),
           InOut(state))

// One state for the process, without a lock.
#define MC_DRAND48(type, name, parameters, arguments, ...) \
  MC_TOUCHES(type, name, parameters, arguments, InOut(&g_drand48_state, 1), __VA_ARGS__)
MC_DRAND48(double, drand48, (), ())
MC_DRAND48(long, lrand48, (), ())
MC_DRAND48(long, mrand48, (), ())
MC_DRAND48(void, srand48, (long seed), (seed))
MC_DRAND48(unsigned short*, seed48, (unsigned short* x), (x), In(x, 6), Out(result, 6))
MC_DRAND48(void, lcong48, (unsigned short* x), (x), In(x, 14))
#define MC_ERAND48(type, name) \
  MC_TOUCHES(type, name, (unsigned short* x), (x), InOut(x, 6), In(&g_drand48_state, 1))
MC_ERAND48(double, erand48)
MC_ERAND48(long, nrand48)
MC_ERAND48(long, jrand48)

#define MC_DRAND48_R(name, type)                                                               \
  MC_TOUCHES(int, name, (drand48_data* state, type* to), (state, to), InOut(state), Out(to))
MC_DRAND48_R(drand48_r, double)
MC_DRAND48_R(lrand48_r, long)
MC_DRAND48_R(mrand48_r, long)
#define MC_ERAND48_R(name, type)                                                               \
  MC_TOUCHES(int, name, (unsigned short* x, drand48_data* state, type* to), (x, state, to),    \
             InOut(x, 6), InOut(state), Out(to))
MC_ERAND48_R(erand48_r, double)
MC_ERAND48_R(nrand48_r, long)
MC_ERAND48_R(jrand48_r, long)
MC_TOUCHES(int, srand48_r, (long seed, drand48_data* state), (seed, state), Out(state))
MC_TOUCHES(int, seed48_r, (unsigned short* x, drand48_data* state), (x, state), In(x, 6),
           InOut(state))
MC_TOUCHES(int, lcong48_r, (unsigned short* x, drand48_data* state), (x, state), In(x, 14),
           Out(state))
