// Elementary functions whose bits do not depend on the CPU.
//
// The C library picks other variants of sin, cos, exp and log on CPUs with FMA, and their last bits differ.
// Everything that can reach a result file calls these instead. They use only +, −, ×, ÷, √ and exact integer
// operations, all of which IEEE 754 fixes. Errors are within 1 ulp (tested): 0.86 for sin and cos, 0.96 for
// tan, 0.51 for the inverse functions and log, 0.8 for the others. Beyond |x| = 2²⁰ sin and cos keep an
// absolute error of about |x|·2⁻⁵³, which is what the argument itself carries.
#pragma once

namespace limber::math {

struct SinCos {
  double sin, cos;
};

SinCos sincos(double x);
void sincos(const double* x, int count, SinCos* out);  // of many at once, the same bits
double sin(double x);
double cos(double x);
double tan(double x);
double atan(double x);
double atan2(double y, double x);
double asin(double x);
double acos(double x);
double exp(double x);
double log(double x);
double pow(double x,
           double y);  // by repeated multiplication for integer |y| ≤ 64, else exp(y log x), both in hi + lo
double sinh(double x);
double cosh(double x);
double tanh(double x);

}  // namespace limber::math
